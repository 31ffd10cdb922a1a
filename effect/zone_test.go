package effect_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loomrun/loom/effect"
)

// zoneFile makes the bytes of a zone file: one offset, always (RFC 8536).
func zoneFile(offset int32, name string) string {
	header := func(counts string) string { return "TZif2" + strings.Repeat("\x00", 15) + counts }
	none := strings.Repeat("\x00", 24)
	one := strings.Repeat("\x00", 19) + "\x01" + "\x00\x00\x00" + string(rune(len(name)+1))
	data := string([]byte{byte(offset >> 24), byte(offset >> 16), byte(offset >> 8), byte(offset)}) + "\x00\x00" + name + "\x00"
	return header(none) + header(one) + data + "\n\n"
}

// host is a folder with zones of its own: /etc/localtime is four hours ahead, and the tz database has
// one zone that is real and lies, a folder, a text and nothing else.
func host(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range map[string]string{
		"localtime":             zoneFile(4*3600, "AHEAD"),
		"zoneinfo/Asia/Tokyo":   zoneFile(-3600, "LIES"),
		"zoneinfo/text":         "no zone\n",
		"elsewhere/Asia/Tokyo":  zoneFile(60, "EVIL"),
		"elsewhere/Europe/Oslo": zoneFile(60, "EVIL"),
		"large":                 zoneFile(0, "X") + strings.Repeat("\x00", 1<<20),
		"empty":                 "",
		"cut":                   zoneFile(0, "X")[:60],
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"linked":  "/usr/share/zoneinfo-of-another-disk/zoneinfo/Asia/Kolkata",
		"astray":  "/nowhere/clock",
		"unknown": "../usr/share/zoneinfo/Nowhere/City",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What TZ and the system's files say, as a local time at noon UTC on 1 July 2026, or why there is none.
// HOST stands for the host's folder.
func TestZone(t *testing.T) {
	dir := host(t)
	const unset = "(unset)"
	const hint = "; unset it or name a zone such as Europe/Berlin"
	for _, c := range []struct {
		name, tz, system, zoneinfo string
		want                       string
	}{
		{name: "unset: the system's", tz: unset, want: "16:00:00+04:00"},
		{name: "unset, and the system has none: UTC", tz: unset, system: "missing", want: "12:00:00+00:00"},
		{name: "the system's is a link to a zone whose file is missing", tz: unset, system: "linked", want: "17:30:00+05:30"},
		{name: "the system's is a link to no zone", tz: unset, system: "astray", want: "HOST/astray is a link to /nowhere/clock, which is no zone of the tz database; set TZ to a zone such as Europe/Berlin"},
		{name: "the system's is a link to a zone that nobody knows", tz: unset, system: "unknown", want: "HOST/unknown is a link to ../usr/share/zoneinfo/Nowhere/City, which is no zone of the tz database; set TZ to a zone such as Europe/Berlin"},
		{name: "the system's is no zone file", tz: unset, system: "zoneinfo/text", want: "HOST/zoneinfo/text is no zone file"},
		{name: "the system's is a FIFO", tz: unset, system: "fifo", want: "HOST/fifo is not a regular file"},

		{name: "empty: UTC (125)", tz: "", want: "12:00:00+00:00"},
		{name: "a zone that the system has no file for", tz: "Europe/Berlin", want: "14:00:00+02:00"},
		{name: "the system's files come first", tz: "Asia/Tokyo", want: "11:00:00-01:00"},
		{name: "with a colon", tz: ":Asia/Kolkata", want: "17:30:00+05:30"},
		{name: "UTC", tz: "UTC", want: "12:00:00+00:00"},
		{name: "a name with signs and digits", tz: "Etc/GMT+5", want: "07:00:00-05:00"},
		{name: "behind by half an hour", tz: "America/St_Johns", want: "09:30:00-02:30"},
		{name: "an old name that looks like a rule", tz: "EST5EDT", want: "08:00:00-04:00"},

		{name: "an absolute file", tz: "HOST/localtime", want: "16:00:00+04:00"},
		{name: "an absolute file with a colon", tz: ":HOST/zoneinfo/Asia/Tokyo", want: "11:00:00-01:00"},
		{name: "a file that is not there", tz: "HOST/missing", want: `TZ is "HOST/missing": open HOST/missing: no such file or directory`},
		{name: "a text file (124)", tz: "HOST/zoneinfo/text", want: `TZ is "HOST/zoneinfo/text": HOST/zoneinfo/text is no zone file`},
		{name: "an empty file", tz: "HOST/empty", want: `TZ is "HOST/empty": HOST/empty is no zone file`},
		{name: "a file that is cut", tz: "HOST/cut", want: `TZ is "HOST/cut": HOST/cut is no zone file`},
		{name: "a file over 1 MiB", tz: "HOST/large", want: `TZ is "HOST/large": HOST/large exceeds 1 MiB`},
		{name: "a folder", tz: "HOST/zoneinfo", want: `TZ is "HOST/zoneinfo": HOST/zoneinfo is not a regular file`},
		{name: "a FIFO", tz: "HOST/fifo", want: `TZ is "HOST/fifo": HOST/fifo is not a regular file`},
		{name: "a device", tz: "/dev/zero", want: `TZ is "/dev/zero": /dev/zero is not a regular file`},
		{name: "an absolute path with NUL", tz: "/dev/\x00", want: `TZ is "/dev/\x00": open /dev/` + "\x00" + `: invalid argument`},

		{name: "a zone that nobody knows (124)", tz: "Nowhere/City", want: `TZ is "Nowhere/City", which is no zone of the tz database` + hint},
		{name: "a relative path", tz: "./localtime", want: `TZ is "./localtime", which is no zone of the tz database` + hint},
		{name: "a way up", tz: "../localtime", want: `TZ is "../localtime", which is no zone of the tz database` + hint},
		{name: "a way down and up", tz: "Asia/../../localtime", want: `TZ is "Asia/../../localtime", which is no zone of the tz database` + hint},
		{name: "a way that is not the shortest", tz: "Asia//Tokyo", want: `TZ is "Asia//Tokyo", which is no zone of the tz database` + hint},
		{name: "a zone as if it were a folder", tz: "Asia/Tokyo/Centre", want: `TZ is "Asia/Tokyo/Centre", which is no zone of the tz database` + hint},
		{name: "a folder of zones", tz: "Asia", want: `TZ is "Asia", which cannot be read: HOST/zoneinfo/Asia is not a regular file` + hint},
		{name: "a text among the zones", tz: "text", want: `TZ is "text", which cannot be read: HOST/zoneinfo/text is no zone file` + hint},
		{name: "Local, which package time knows", tz: "Local", want: `TZ is "Local", which is no zone of the tz database` + hint},
		{name: "a colon alone", tz: ":", want: `TZ is ":", which is no zone of the tz database` + hint},
		{name: "a dot", tz: ".", want: `TZ is ".", which is no zone of the tz database` + hint},
		{name: "white space", tz: " ", want: `TZ is " ", which is no zone of the tz database` + hint},
		{name: "NUL", tz: "UTC\x00", want: `TZ is "UTC\x00", which is no zone of the tz database` + hint},
		{name: "a backslash", tz: `Asia\Tokyo`, want: `TZ is "Asia\\Tokyo", which is no zone of the tz database` + hint},
		{name: "a rule of POSIX", tz: "CET-1CEST,M3.5.0,M10.5.0/3", want: `TZ is "CET-1CEST,M3.5.0,M10.5.0/3", which is no zone of the tz database (rules with offsets written out are not read)` + hint},
		{name: "a short one", tz: "JST-9", want: `TZ is "JST-9", which is no zone of the tz database (rules with offsets written out are not read)` + hint},
		{name: "one with a quoted name", tz: "<+03>-3", want: `TZ is "<+03>-3", which is no zone of the tz database (rules with offsets written out are not read)` + hint},
		{name: "a byte that is not UTF-8 (124)", tz: "Europe/Berl\xefn", want: "TZ is not UTF-8; unset it or name a zone such as Europe/Berlin"},
		{name: "a path with such a byte", tz: "/\xff", want: "TZ is not UTF-8; unset it or name a zone such as Europe/Berlin"},

		// ZONEINFO, where package time looks first, changes nothing.
		{name: "ZONEINFO, and a zone of the system", tz: "Asia/Tokyo", zoneinfo: "HOST/elsewhere", want: "11:00:00-01:00"},
		{name: "ZONEINFO, and a zone that the system has no file for", tz: "Europe/Oslo", zoneinfo: "HOST/elsewhere", want: `TZ is "Europe/Oslo", which has no zone file on this system, and the copy in this program is not used while ZONEINFO is set` + hint},
		{name: "ZONEINFO, and the system's zone", tz: unset, zoneinfo: "HOST/elsewhere", want: "16:00:00+04:00"},
		{name: "ZONEINFO, and a file", tz: "HOST/localtime", zoneinfo: "HOST/elsewhere", want: "16:00:00+04:00"},
		{name: "ZONEINFO, empty", tz: "Europe/Oslo", zoneinfo: "", want: "14:00:00+02:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			environment := map[string]string{"ZONEINFO": strings.ReplaceAll(c.zoneinfo, "HOST", dir)}
			if c.tz != unset {
				environment["TZ"] = strings.ReplaceAll(c.tz, "HOST", dir)
			}
			if c.system == "" {
				c.system = "localtime"
			}
			zone, err := effect.ZoneOf(filepath.Join(dir, c.system), []string{filepath.Join(dir, "zoneinfo"), filepath.Join(dir, "none")}, variables(environment))
			var got string
			if err != nil {
				got = strings.ReplaceAll(err.Error(), dir, "HOST")
			} else {
				got = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).In(zone).Format("15:04:05-07:00")
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func variables(environment map[string]string) func(string) (string, bool) {
	environment = maps.Clone(environment)
	return func(name string) (string, bool) {
		value, set := environment[name]
		return value, set
	}
}

// This host has a zone, one way or another.
func TestHostZone(t *testing.T) {
	for _, environment := range []map[string]string{{}, {"TZ": ""}, {"TZ": "Europe/Berlin"}} {
		if _, err := effect.HostZone(variables(environment)); err != nil {
			t.Errorf("%v: %v", environment, err)
		}
	}
}

// The clock of this machine shows now, by the zone of TZ.
func TestHostClock(t *testing.T) {
	t.Setenv("TZ", "Asia/Kolkata")
	p := effect.HostClock().Open(effect.Intent{Revision: revision})
	before := time.Now().Truncate(time.Second)
	report, err := p.Perform(t.Context(), request("{}"))
	if err != nil {
		t.Fatal(err)
	}
	local, _, _ := strings.Cut(strings.TrimPrefix(report.Text, "Local time: "), "\n")
	shown, err := time.Parse(time.RFC3339, local)
	if err != nil || shown.Before(before) || shown.After(time.Now()) || !strings.HasSuffix(local, "+05:30") {
		t.Errorf("%s: %v", local, err)
	}
}
