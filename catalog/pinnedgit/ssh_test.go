package pinnedgit

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
)

// sshServer is where systems have the OpenSSH server.
const sshServer = "/usr/sbin/sshd"

// probed is how a command ends that shows that ssh works at all. ssh itself ends with 255.
const probed = 5

// startSSH starts an OpenSSH server on a loopback port that takes one new key for this user. It gives
// the beginning of the server's URLs and the settings with which git's ssh knows server and key. The
// product has no such settings: ssh then goes by the person's own.
func startSSH(t *testing.T, options ...string) (address string, known settings) {
	t.Helper()
	if _, err := os.Stat(sshServer); err != nil {
		t.Skipf("no %s here: git+ssh is not tested (install openssh-server)", sshServer)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if me.Uid == "0" {
		// The server, run as root, insists on this folder, which its start script makes. It stays:
		// another server may be in need of it.
		_ = os.Mkdir("/run/sshd", 0o755)
	}
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, key := range []string{"host", "person"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", in(key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	port := freePort(t)
	write(t, in("config"), strings.Join(append([]string{
		fmt.Sprintf("ListenAddress 127.0.0.1:%d", port),
		"HostKey " + in("host"),
		"AuthorizedKeysFile " + in("person.pub"),
		"PidFile none",
		"StrictModes no", // the temporary folder is below one that everybody may write to
		"UsePAM no",
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
	}, options...), "\n")+"\n")
	hostKey, err := os.ReadFile(in("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, in("known"), fmt.Sprintf("[127.0.0.1]:%d %s", port, hostKey))

	server := exec.Command(sshServer, "-D", "-e", "-f", in("config"))
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-drained
		_ = server.Wait()
	})
	lines := bufio.NewScanner(log)
	var said []string
	listening := false
	for !listening && lines.Scan() {
		said = append(said, lines.Text())
		listening = strings.HasPrefix(lines.Text(), "Server listening on")
	}
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	if !listening {
		t.Skipf("%s does not start here: git+ssh is not tested: %s", sshServer, strings.Join(said, "; "))
	}
	ssh := "ssh -oBatchMode=yes -F none -oIdentitiesOnly=yes -oStrictHostKeyChecking=yes -oUserKnownHostsFile=" + in("known") + " -i " + in("person")
	probe := exec.Command("/bin/sh", "-c", fmt.Sprintf("%s -p %d %s@127.0.0.1 'exit %d'", ssh, port, me.Username, probed))
	if out, err := probe.CombinedOutput(); probe.ProcessState.ExitCode() != probed {
		t.Skipf("ssh lets this user run nothing here: git+ssh is not tested: %v: %s", err, out)
	}
	return fmt.Sprintf("ssh://%s@127.0.0.1:%d", me.Username, port), settings{environment: []string{"GIT_SSH_COMMAND=" + ssh}}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestFetchOverSSH(t *testing.T) {
	for _, tc := range []struct {
		name, option string
		readings     []reading
	}{
		{"of a server that lets the protocol version through", "AcceptEnv GIT_PROTOCOL", readings[:3]},
		{"of a server that does not", "LogLevel INFO", readings[:1]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			o := newOrigin(t, w)
			address, known := startSSH(t, tc.option)
			for _, r := range tc.readings {
				t.Run(r.name, func(t *testing.T) { r.check(t, Locator{address + o.folder, o.pin}, known) })
			}
			t.Run("a server that the person does not know", func(t *testing.T) {
				reading{path: "clock.yaml", refused: failed("fetch", "exit status 128")}.check(t, Locator{address + o.folder, o.pin}, settings{})
			})
		})
	}
}

func TestCase61WhatAnSSHServerSaysIsNotEchoed(t *testing.T) {
	newWorld(t)
	address, known := startSSH(t, `ForceCommand printf 'installed evil@1\n' >&2; exit 5`)
	reading{path: "clock.yaml", refused: failed("fetch", "exit status 128")}.check(t, Locator{address + "/b", somePin}, known)
}
