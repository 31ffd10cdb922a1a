package journaltest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// RequireVariable is the environment variable that names, with commas between, what tests may not do without.
const RequireVariable = "LOOM_TEST_REQUIRE"

// PostgreSQL gives the address of a new, empty database of a server that this test program starts for itself, and
// that ends with it, however it ends. A machine without the programs of PostgreSQL skips the test, unless
// LOOM_TEST_REQUIRE names postgresql.
//
// The server waits for no disk, and its databases are set up not to wait for a commit either: a store must
// ask for that itself.
func PostgreSQL(t *testing.T) (address string) {
	t.Helper()
	server, err := startServer()
	switch {
	case errors.Is(err, errNoPrograms) && !slices.Contains(strings.Split(os.Getenv(RequireVariable), ","), "postgresql"):
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), server.address("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	name := fmt.Sprintf("test%d", server.databases.Add(1))
	if _, err := c.Exec(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	return server.address(name)
}

var errNoPrograms = errors.New("the programs of PostgreSQL are missing: apt-get install postgresql-15")

type server struct {
	folder    string
	databases atomic.Int64
	life      io.Closer // the server ends when this is closed, so with the process
}

func (s *server) address(database string) string {
	return fmt.Sprintf("postgres://loom@/%s?host=%s", database, s.folder)
}

// startServer starts the server once.
var startServer = sync.OnceValues(func() (*server, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	// Not below TMPDIR: the user of the server must reach it, and the path of a socket has room for some
	// hundred bytes only.
	folder, err := os.MkdirTemp("/tmp", "loom-postgresql-")
	if err != nil {
		return nil, err
	}
	command := exec.Command("/bin/sh", "-c", serverScript, "sh", programs, folder)
	command.Dir = folder
	// A group of its own: an interrupt from the keyboard must not keep it from clearing up.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 { // the server refuses to run as root
		if command.SysProcAttr.Credential, err = owner("postgres"); err == nil {
			err = os.Chown(folder, int(command.SysProcAttr.Credential.Uid), int(command.SysProcAttr.Credential.Gid))
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	s := &server{folder: folder}
	if s.life, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	said, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	output := bufio.NewReader(said)
	if line, err := output.ReadString('\n'); line != "ready\n" {
		rest, _ := io.ReadAll(output)
		return nil, fmt.Errorf("start PostgreSQL: %w: %s%s", errors.Join(err, command.Wait()), line, rest)
	}
	return s, nil
})

// serverScript makes and starts a server, and ends it and removes its folder when the input ends.
const serverScript = `
programs=$1 folder=$2
trap 'rm -rf "$folder"' EXIT
exec 2>&1
"$programs/initdb" --no-sync -D "$folder/data" -U loom -A trust -E UTF8 --no-locale >"$folder/log" || { cat "$folder/log"; exit 1; }
"$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start \
	-o "-k $folder -h '' -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=200" >"$folder/started" ||
	{ cat "$folder/started" "$folder/log"; exit 1; }
echo ready
cat >/dev/null
"$programs/pg_ctl" -D "$folder/data" -m immediate -w stop >"$folder/stopped"
`

// postgresPrograms gives the folder of the programs.
func postgresPrograms() (string, error) {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if found, err := exec.LookPath("initdb"); err == nil {
		if found, err = filepath.EvalSymlinks(found); err == nil {
			folders = append(folders, filepath.Dir(found))
		}
	}
	for _, folder := range slices.Backward(folders) {
		if _, err := exec.LookPath(filepath.Join(folder, "pg_ctl")); err == nil {
			return folder, nil
		}
	}
	return "", errNoPrograms
}

func owner(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
