// Command probe is the program that the tests of package sandbox confine. Each verb tries one thing and
// prints "ok" or why it failed.
package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	verb, args := os.Args[1], os.Args[2:]
	switch verb {
	case "write": // each path, one line each
		for _, path := range args {
			report(path, write(path))
		}
	case "read":
		for _, path := range args {
			text, err := os.ReadFile(path)
			if err == nil {
				err = fmt.Errorf("ok %q", text)
			}
			fmt.Println(path+":", err)
		}
	case "list":
		for _, path := range args {
			entries, err := os.ReadDir(path)
			if err != nil {
				fmt.Println(err)
			}
			for _, e := range entries {
				fmt.Println(e.Name())
			}
		}
	case "dial":
		for i := 0; i+1 < len(args); i += 2 {
			report(args[i], dial(args[i], args[i+1]))
		}
	case "fork": // as many as can be, at most the number given
		most, _ := strconv.Atoi(args[0])
		n := 0
		for range most {
			if exec.Command("/bin/sleep", "600").Start() != nil {
				break
			}
			n++
		}
		fmt.Println(n)
	case "allocate": // bytes in pieces, each used
		most, _ := strconv.Atoi(args[0])
		var all [][]byte
		for range most >> 20 {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		}
		fmt.Println("ok", len(all))
	case "fill":
		f, err := os.Create(args[0])
		if err == nil {
			_, err = io.CopyN(f, zeros{}, 1<<40)
		}
		fmt.Println(err)
	case "flood":
		n, _ := strconv.ParseInt(args[0], 10, 64)
		_, _ = io.CopyN(os.Stdout, zeros{}, n)
	case "hide": // a session of its own, a parent that ended, no stream of ours; says so in a file
		daemon := exec.Command(os.Args[0], "hidden", args[0], args[1])
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		report("hide", daemon.Start())
		forever()
	case "hidden":
		if len(args) == 2 {
			next := exec.Command(os.Args[0], "hidden", args[0], args[1], strconv.Itoa(os.Getpid()))
			next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			_ = next.Start()
			return
		}
		for strconv.Itoa(os.Getppid()) == args[2] {
			runtime.Gosched()
		}
		_ = os.WriteFile(args[1], nil, 0o600)
		forever()
	case "environment":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "descriptors":
		for fd := range 1000 {
			if target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil && !strings.HasPrefix(target, "anon_inode") {
				kind, _, _ := strings.Cut(target, ":")
				fmt.Println(fd, kind)
			}
		}
	case "exit":
		n, _ := strconv.Atoi(args[0])
		os.Exit(n)
	case "signal":
		n, _ := strconv.Atoi(args[0])
		_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
		forever()
	case "key": // finds a key of the session and reads it
		fmt.Println(key(args[0]))
	case "unshare":
		inner := exec.Command("/bin/true")
		inner.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		report("unshare", inner.Run())
	}
}

func report(what string, err error) {
	if err == nil {
		fmt.Println(what+":", "ok")
		return
	}
	fmt.Println(what+":", err)
}

func write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasPrefix(path, "/proc/") {
		return nil // opening is proof enough, and writing would change the host
	}
	_, err = f.WriteString("written\n")
	return err
}

// dial sends one line to a server and gives nil where it arrived for sure, which is when an answer came.
func dial(kind, address string) error {
	var c net.Conn
	var err error
	switch kind {
	case "mptcp":
		var d net.Dialer
		d.SetMultipathTCP(true)
		c, err = d.Dial("tcp", address)
	default:
		c, err = net.Dial(kind, address)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write([]byte("here\n")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 10))
	return err
}

func key(name string) string {
	const search, read, session = 10, 11, -3
	ring := session
	kind, _ := syscall.BytePtrFromString("user")
	text, _ := syscall.BytePtrFromString(name)
	id, _, errno := syscall.Syscall6(syscall.SYS_KEYCTL, search, uintptr(ring), uintptr(unsafe.Pointer(kind)), uintptr(unsafe.Pointer(text)), 0, 0)
	if errno != 0 {
		return errno.Error()
	}
	secret := make([]byte, 100)
	n, _, errno := syscall.Syscall6(syscall.SYS_KEYCTL, read, id, uintptr(unsafe.Pointer(&secret[0])), uintptr(len(secret)), 0, 0)
	if errno != 0 {
		return errno.Error()
	}
	return "ok " + string(secret[:n])
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func forever() {
	for {
		_ = syscall.Pause()
	}
}
