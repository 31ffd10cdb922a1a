//go:build linux

package sandbox

import "testing"

func TestRightsAreRead(t *testing.T) {
	const none = "Name:\tx\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n"
	for _, tc := range []struct {
		name, status  string
		capabilities  bool
		newPrivileges bool
	}{
		{"none", none + "NoNewPrivs:\t1\n", false, false},
		{"new privileges", none + "NoNewPrivs:\t0\n", false, true},
		{"a bounding set", none + "CapBnd:\t0000000000000400\nNoNewPrivs:\t1\n", true, false},
		{"nothing that can be read", "", true, true},
	} {
		if c, n := rights(tc.status); c != tc.capabilities || n != tc.newPrivileges {
			t.Errorf("%s: %v %v", tc.name, c, n)
		}
	}
}

func TestMountsAreRead(t *testing.T) {
	for _, tc := range []struct {
		line string
		want mount
	}{
		{`66 65 254:0 /usr /usr ro,nosuid,nodev,relatime - ext4 /dev/vda rw,discard`, mount{at: "/usr", kind: "ext4", readOnly: true}},
		{`79 65 0:45 / /tmp rw,nosuid shared:3 - tmpfs tmpfs rw,size=980k,mode=755`, mount{at: "/tmp", kind: "tmpfs", size: 980 << 10}},
		{`80 65 0:45 / /a\040b\134c rw - ext4 /dev/ro rw`, mount{at: `/a b\c`, kind: "ext4"}},
	} {
		if got, err := parseMount(tc.line); err != nil || got != tc.want {
			t.Errorf("%+v (%v), want %+v", got, err, tc.want)
		}
	}
	if _, err := parseMount("66 65 254:0 /usr /usr ro"); err == nil {
		t.Error("a short line is a mount")
	}
}

func TestWhatIsMountedIsSeen(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		mount                mount
		reads, writes, rooms int
	}{
		{"the root", mount{at: "/", kind: "tmpfs", readOnly: true}, 0, 0, 0},
		{"a root that can be written", mount{at: "/", kind: "tmpfs"}, 0, 1, 0},
		{"the host's root", mount{at: "/", kind: "ext4", readOnly: true}, 1, 0, 0},
		{"processes", mount{at: "/proc", kind: "proc", readOnly: true}, 0, 0, 0},
		{"processes that can be written", mount{at: "/proc", kind: "proc"}, 0, 1, 0},
		{"a device", mount{at: "/dev/null", kind: "devtmpfs"}, 0, 0, 0},
		{"another device", mount{at: "/dev/sda", kind: "devtmpfs"}, 0, 1, 0},
		{"scratch", mount{at: "/tmp", kind: "tmpfs"}, 0, 0, 1},
		{"the host's scratch", mount{at: "/tmp", kind: "ext4"}, 0, 1, 0},
		{"a folder", mount{at: "/home/a", kind: "ext4", readOnly: true}, 1, 0, 0},
	} {
		var a Applied
		a.see(tc.mount)
		if len(a.Read) != tc.reads || len(a.Write) != tc.writes || len(a.Scratch) != tc.rooms {
			t.Errorf("%s: %+v", tc.name, a)
		}
	}
}
