//go:build linux

package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loomrun/loom/internal/process"
)

// TestNoNetworkIsNoNetwork is case 177 of the specification, with every kind that one wall or another
// lets through: TCP, MPTCP, UDP, and unix sockets with a path and without one.
func TestNoNetworkIsNoNetwork(t *testing.T) {
	needBackend(t)
	servers := []string{"tcp", "mptcp", "udp", "unix", "unix"}
	folder, err := os.MkdirTemp("/tmp", "host-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	addresses := []string{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", filepath.Join(folder, "socket"), "@loom-sandbox-test-" + fmt.Sprint(os.Getpid())}
	args := []string{"dial"}
	for i, kind := range servers {
		args = append(args, kind, serve(t, kind, addresses[i]))
	}
	// That the servers answer, or the test is void.
	bare, err := process.Run(t.Context(), process.Command{Path: probe, Args: args, MaxStdout: 1 << 12, MaxStderr: 1 << 12})
	if err != nil || strings.Count(string(bare.Stdout), ": ok\n") != len(servers) {
		t.Fatalf("the test is void: %s (%v)", bare.Stdout, err)
	}
	s := spec(t, args...)
	if out := output(t, s); strings.Contains(out, "ok") || strings.Count(out, "\n") != len(servers) {
		t.Errorf("reached:\n%s", out)
	}
	s.Network = true
	got, applied, err := Run(t.Context(), s)
	if err != nil || strings.Count(string(got.Stdout), "tcp: ok\n") != 2 {
		t.Errorf("with the network: %s (%v)", got.Stdout, err)
	}
	if strings.Contains(strings.Join(applied.Namespaces, " "), "net") {
		t.Error("the record says no network")
	}
}

// serve answers everything on a socket until the test ends, and gives its address.
func serve(t *testing.T, kind, address string) string {
	t.Helper()
	if kind == "udp" {
		c, err := net.ListenPacket(kind, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		go func() {
			for {
				_, from, err := c.ReadFrom(make([]byte, 100))
				if err != nil {
					return
				}
				_, _ = c.WriteTo([]byte("answer"), from)
			}
		}()
		return c.LocalAddr().String()
	}
	var config net.ListenConfig
	config.SetMultipathTCP(kind == "mptcp")
	if kind == "mptcp" {
		kind = "tcp"
	}
	l, err := config.Listen(t.Context(), kind, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 100))
			_, _ = c.Write([]byte("answer"))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
