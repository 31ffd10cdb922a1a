//go:build linux

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/loomrun/loom/internal/process"
)

// partVariable makes a test the process that another test starts.
const partVariable = "LOOM_SANDBOX_PART"

// part is this test binary running one test as another process.
func part(t *testing.T, value string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), partVariable+"="+value, probeVariable+"="+probe)
	return cmd
}

// TestKeysOfTheSessionAreNotHeld: a session keyring is in no namespace. The key is put into one of a
// process of its own.
func TestKeysOfTheSessionAreNotHeld(t *testing.T) {
	const name, secret = "loom-sandbox-test", "of the session"
	if os.Getenv(partVariable) != "" {
		bare, err := process.Run(t.Context(), process.Command{Path: probe, Args: []string{"key", name}, MaxStdout: 100})
		if err != nil || string(bare.Stdout) != "ok "+secret+"\n" {
			t.Fatalf("the test is void: %s (%v)", bare.Stdout, err)
		}
		if out := output(t, spec(t, "key", name)); strings.HasPrefix(out, "ok") {
			t.Error("the program read the key")
		}
		return
	}
	needBackend(t)
	runtime.LockOSThread() // and never unlocked, as its keyring is another from here on
	if err := leaveKeyring(); err != nil {
		t.Fatal(err)
	}
	ring := -3 // KEY_SPEC_SESSION_KEYRING
	kind, _ := syscall.BytePtrFromString("user")
	text, _ := syscall.BytePtrFromString(name)
	payload := []byte(secret)
	_, _, errno := syscall.Syscall6(syscall.SYS_ADD_KEY, uintptr(unsafe.Pointer(kind)), uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(&payload[0])), uintptr(len(payload)), uintptr(ring), 0)
	if errno != 0 {
		t.Skip("no keyrings here: ", errno)
	}
	if out, err := part(t, "1").CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSandboxDiesWithTheHost: what a killed Loom leaves behind is killed, too.
func TestSandboxDiesWithTheHost(t *testing.T) {
	if folder := os.Getenv(partVariable); folder != "" {
		s := spec(t, "hide", folder, "notes/hidden")
		s.Work = folder
		_, _, err := Run(t.Context(), s)
		t.Fatal("it came back: ", err)
	}
	needBackend(t)
	folder := t.TempDir()
	host := part(t, folder)
	host.Env = append(host.Env, "TMPDIR="+t.TempDir()) // which a killed process leaves behind
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = host.Wait() }()
	for {
		if _, err := os.Stat(filepath.Join(folder, "notes", "hidden")); err == nil {
			break
		}
		select {
		case <-ended:
			t.Fatal("it ended by itself")
		default:
		}
	}
	if alive(t, "hidden\x00"+folder) == 0 {
		t.Error("the test is void: nothing hides")
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	// The kernel tells each process of its parent's death one after the other.
	const looks = 10_000
	for range looks {
		if alive(t, "hidden\x00"+folder) == 0 {
			return
		}
	}
	t.Error("the sandbox lives on")
}
