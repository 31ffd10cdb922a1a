// Command mailpeers measures loom beside notmuch and mu, all as whole processes in one run on one Maildir, and prints a Markdown table
// for docs/benchmarks.md: the first index, a rescan of what did not change, a search.
//
//	mailpeers -loom bin/loom -corpus package/data
//
// The corpus is a folder of text files with one message each. The programs take turns, so that a busy moment hits all of them.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	loom := flag.String("loom", "bin/loom", "the program")
	corpus := flag.String("corpus", "", "a folder of messages, each a .txt file")
	rounds := flag.Int("rounds", 5, "how often each is measured")
	flag.Parse()
	if err := run(*loom, *corpus, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "mailpeers:", err)
		os.Exit(1)
	}
}

// peer is a program with the three things it is measured at.
type peer struct {
	name                   string
	env                    []string
	prepare                [][]string // run before the first index, not measured
	first, again, searches []string
	account                func(out []byte) error // of a first index; may be nil
	least                  int                    // lines a search must print, so that none is measured that finds nothing

	took map[string][]time.Duration
	rss  int64 // KiB, the most of any first index
}

func run(loom, corpus string, rounds int) error {
	loom, err := filepath.Abs(loom)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mailpeers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	maildir := filepath.Join(work, "Maildir")
	messages, err := build(corpus, maildir)
	if err != nil {
		return err
	}
	peers := make(map[string]*peer)
	order := []string{"loom", "mu", "notmuch"}
	for round := range rounds {
		home := filepath.Join(work, fmt.Sprint("home", round))
		if err := os.MkdirAll(home, 0o700); err != nil {
			return err
		}
		for _, p := range made(loom, maildir, home, messages) {
			if old := peers[p.name]; old != nil {
				p.took, p.rss = old.took, old.rss
			}
			peers[p.name] = p
			if err := p.index(); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		for range 4 {
			for _, name := range order {
				if err := peers[name].use(); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
		if err := os.RemoveAll(home); err != nil {
			return err
		}
	}
	fmt.Printf("%d messages, %d rounds, medians of whole processes\n\n", messages, rounds)
	fmt.Println("| | first index, s | messages/s | peak memory, MiB | unchanged rescan, ms | search, 20 newest, ms |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, name := range order {
		p := peers[name]
		first := median(p.took["first"])
		fmt.Printf("| %s | %.2f | %.0f | %d | %.1f | %.1f |\n", name, first.Seconds(), float64(messages)/first.Seconds(), p.rss/1024,
			milliseconds(median(p.took["again"])), milliseconds(median(p.took["search"])))
	}
	l, m, n := peers["loom"], peers["mu"], peers["notmuch"]
	fmt.Printf("\nfirst index: %.1f times mu's messages per second; memory %.2f of mu's; rescan %+.1f ms to mu's and %+.1f ms to notmuch's; search %+.1f ms to notmuch's\n",
		median(m.took["first"]).Seconds()/median(l.took["first"]).Seconds(), float64(l.rss)/float64(m.rss),
		milliseconds(median(l.took["again"])-median(m.took["again"])), milliseconds(median(l.took["again"])-median(n.took["again"])),
		milliseconds(median(l.took["search"])-median(n.took["search"])))
	return nil
}

func made(loom, maildir, home string, messages int) []*peer {
	env := append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home+"/data", "XDG_CONFIG_HOME="+home+"/config", "XDG_CACHE_HOME="+home+"/cache",
		"XDG_STATE_HOME="+home+"/state", "NOTMUCH_CONFIG="+home+"/notmuch")
	config := fmt.Sprintf("[database]\npath=%s/nm\nmail_root=%s\n[user]\nname=A\nprimary_email=a@example.com\n[new]\ntags=new\n", home, maildir)
	_ = os.WriteFile(home+"/notmuch", []byte(config), 0o600)
	_ = os.Mkdir(home+"/nm", 0o700)
	const word = "linux"
	peers := []*peer{
		{
			name: "loom", prepare: [][]string{
				{loom, "init", "--owner", "ada", "--zone", "UTC"},
				{loom, "source", "add", "mail", maildir, "--name", "mail"},
			},
			first: []string{loom, "sync", "--json"}, again: []string{loom, "sync"}, searches: []string{loom, "search", word, "--json", "--limit", "20"}, least: 1,
			account: func(out []byte) error { return account(out, messages) },
		},
		{
			name: "mu", prepare: [][]string{{"mu", "init", "--maildir=" + maildir, "--muhome=" + home + "/mu"}},
			first: []string{"mu", "index", "--quiet", "--muhome=" + home + "/mu"}, again: []string{"mu", "index", "--quiet", "--muhome=" + home + "/mu"},
			searches: []string{"mu", "find", "--muhome=" + home + "/mu", "-n", "20", "--sortfield=date", "--reverse", word}, least: 20,
		},
		{
			name: "notmuch", first: []string{"notmuch", "new", "--quiet"}, again: []string{"notmuch", "new", "--quiet"},
			searches: []string{"notmuch", "search", "--limit=20", word}, least: 20,
		},
	}
	for _, p := range peers {
		p.env, p.took = env, map[string][]time.Duration{}
	}
	return peers
}

// index makes a first index.
func (p *peer) index() error {
	for _, command := range p.prepare {
		if _, _, _, err := p.measure(command); err != nil {
			return err
		}
	}
	took, rss, out, err := p.measure(p.first)
	p.took["first"] = append(p.took["first"], took)
	p.rss = max(p.rss, rss)
	if err == nil && p.account != nil {
		err = p.account(out)
	}
	return err
}

// account holds what loom says of its first index to the number of messages: each is stored, a copy of one that is, or named as skipped.
func account(out []byte, messages int) error {
	for line := range bytes.Lines(out) {
		var said struct {
			Source               string
			New, Copies, Skipped int
		}
		if err := json.Unmarshal(line, &said); err != nil {
			return err
		}
		if said.Source == "mail" && said.New+said.Copies+said.Skipped == messages {
			return nil
		}
	}
	return fmt.Errorf("not each of %d messages is stored or named as skipped: %s", messages, out)
}

// use rescans and searches once.
func (p *peer) use() error {
	took, _, _, err := p.measure(p.again)
	if err != nil {
		return err
	}
	p.took["again"] = append(p.took["again"], took)
	took, _, out, err := p.measure(p.searches)
	if err == nil && bytes.Count(out, []byte("\n")) < p.least {
		err = fmt.Errorf("%q found too little", p.searches)
	}
	p.took["search"] = append(p.took["search"], took)
	return err
}

// incomplete is the exit status of a sync that could not take every message: the corpus has some that are none.
const incomplete = 3

func (p *peer) measure(command []string) (took time.Duration, rss int64, out []byte, err error) {
	c := exec.Command(command[0], command[1:]...)
	c.Env = p.env
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	began := time.Now()
	err = c.Run()
	took = time.Since(began)
	if err != nil && (c.ProcessState == nil || c.ProcessState.ExitCode() != incomplete) {
		return 0, 0, nil, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, stderr.Bytes())
	}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = usage.Maxrss
	}
	return took, rss, stdout.Bytes(), nil
}

// build makes a Maildir of the messages, a folder of it for each of theirs. A separator line of mbox before a message is left out: it is
// no part of it, and not every program knows it.
func build(corpus, maildir string) (messages int, err error) {
	err = filepath.WalkDir(corpus, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".txt") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(text, []byte("From ")) {
			_, text, _ = bytes.Cut(text, []byte("\n"))
		}
		folder := filepath.Join(maildir, "."+filepath.Base(filepath.Dir(path)))
		for _, name := range []string{"cur", "new", "tmp"} {
			for _, f := range []string{maildir, folder} {
				if err := os.MkdirAll(filepath.Join(f, name), 0o700); err != nil {
					return err
				}
			}
		}
		messages++
		return os.WriteFile(filepath.Join(folder, "cur", strings.TrimSuffix(filepath.Base(path), ".txt")+":2,S"), text, 0o600)
	})
	if err == nil && messages == 0 {
		err = fmt.Errorf("no messages in %s", corpus)
	}
	return messages, err
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
