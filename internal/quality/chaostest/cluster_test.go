package chaostest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// cluster is a PostgreSQL server that only this test uses, so that the test can stop it.
type cluster struct {
	bin, dir string
	as       *syscall.Credential // PostgreSQL refuses to run as root
	url      string
}

// startCluster makes and starts a server. It keeps the time of every commit, by
// which the event log is judged.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{bin: postgresPrograms(t)}
	var err error
	if c.dir, err = os.MkdirTemp("/tmp", "pdpp-chaos-"); err != nil { // short: a socket path has at most 107 bytes
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.control(context.Background(), "stop", "--mode=immediate")
		_ = os.RemoveAll(c.dir)
	})
	if os.Geteuid() == 0 {
		c.as = unprivileged(t)
		if err := os.Chown(c.dir, int(c.as.Uid), int(c.as.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	err = c.run(t.Context(), "initdb", "--pgdata=data", "--username=pdpp", "--auth=trust", "--encoding=UTF8",
		"--locale=C.UTF-8", "--no-sync")
	if err != nil {
		t.Fatal(err)
	}
	for attempt := 1; ; attempt++ {
		port := freePort(t)
		// Without fsync a server that crashes loses nothing; only a machine would.
		err := c.control(t.Context(), "start", "-o", fmt.Sprintf(
			"-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s -c max_connections=200 -c "+
				"track_commit_timestamp=on -c fsync=off", port, c.dir))
		if err == nil {
			c.url = fmt.Sprintf("postgres://pdpp@127.0.0.1:%d/postgres?sslmode=disable", port)
			return c
		}
		if attempt == 5 {
			t.Fatalf("PostgreSQL does not start: %v", err)
		}
	}
}

// restart tears the server down without a goodbye and starts it again, and
// returns when it answers.
func (c *cluster) restart(ctx context.Context) error {
	if err := c.control(ctx, "restart", "--mode=immediate"); err != nil {
		return err
	}
	return until(ctx, "PostgreSQL answers after its restart", time.Minute, func() (bool, error) {
		conn, err := pgx.Connect(ctx, c.url)
		if err != nil {
			return false, nil
		}
		return true, conn.Close(ctx)
	})
}

func (c *cluster) control(ctx context.Context, action string, args ...string) error {
	return c.run(ctx, "pg_ctl", append([]string{action, "--pgdata=data", "--wait", "--timeout=120", "--log=server.log"},
		args...)...)
}

// run starts a program of PostgreSQL as its user, in its folder. Its output goes
// to a file: the server inherits it, and a pipe would never end.
func (c *cluster) run(ctx context.Context, program string, args ...string) error {
	out, err := os.CreateTemp("", "pdpp-chaos-*.log")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, program), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, append(os.Environ(), "HOME="+c.dir), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as, Setpgid: true}
	if err := cmd.Run(); err != nil {
		content, _ := os.ReadFile(out.Name())
		log, _ := os.ReadFile(filepath.Join(c.dir, "server.log"))
		return fmt.Errorf("%s %s: %w: %s\n%s", program, args[0], err, content, log[max(0, len(log)-2000):])
	}
	return nil
}

// postgresPrograms is the folder of the newest installed server.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) })
	for _, bin := range slices.Backward(found) {
		if _, err := os.Stat(filepath.Join(bin, "initdb")); err == nil {
			return bin
		}
	}
	t.Fatal("no PostgreSQL server under /usr/lib/postgresql: run the tests with `make test`, which installs one")
	return ""
}

func version(bin string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
	return v
}

func unprivileged(t *testing.T) *syscall.Credential {
	t.Helper()
	found, err := user.Lookup("postgres")
	if err != nil {
		found, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatalf("find a user for PostgreSQL: %v", err)
	}
	uid, _ := strconv.Atoi(found.Uid)
	gid, _ := strconv.Atoi(found.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// freePort returns a port below the kernel's ephemeral range, so that it stays free while the
// server is down.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(12000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
