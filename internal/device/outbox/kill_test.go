package outbox

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	killRounds   = 30 // each ends two processes
	killsInRound = 2
)

// TestKill ends two processes on one file at any moment, again and again.
// Nothing that was kept is lost, nothing is delivered that was not enqueued or
// that was acknowledged before, and no checkpoint overtakes.
//
//pdpp:tier unraced
func TestKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.sqlite")
	h := newHistory()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range killRounds {
		h.suffer(t, path, round, 1+random.IntN(250))
		h.verify(t, path)
	}
	h.finish(t, path, killRounds)
	t.Attr("result", fmt.Sprintf("%d SIGKILLs: %d items kept, %d delivered, %d of them again after a lost "+
		"acknowledgement; none lost, none out of order",
		killRounds*killsInRound, len(h.kept), len(h.delivered), h.repeated))
}

// Processes that are ended while they make the file leave one that the next can use.
//
//pdpp:tier unraced
func TestKillWhileTheFileIsMade(t *testing.T) {
	t.Parallel()
	for lines := range 8 {
		path, h := filepath.Join(t.TempDir(), "notes.sqlite"), newHistory()
		h.suffer(t, path, 0, lines)
		h.finish(t, path, 1)
	}
}

// history is what was seen from outside, in order.
type history struct {
	lines          int
	intended, kept map[string]bool
	delivered      map[string]int // line of the first delivery
	acked          map[string]int
	repeated       int
}

func newHistory() *history {
	return &history{delivered: map[string]int{}, acked: map[string]int{}, intended: map[string]bool{},
		kept: map[string]bool{}}
}

func (h *history) note(t *testing.T, line string) {
	t.Helper()
	what, id, _ := strings.Cut(line, " ")
	h.lines++
	switch what {
	case sayIntend:
		h.intended[id] = true
	case sayKept:
		h.kept[id] = true
	case sayDeliver:
		if !h.intended[id] {
			t.Fatalf("delivered %q, which nobody enqueued", id)
		}
		if h.acked[id] > 0 {
			t.Fatalf("delivered %q after it was acknowledged", id)
		}
		if h.delivered[id] > 0 {
			h.repeated++
			return
		}
		h.delivered[id] = h.lines
	case sayAcked:
		h.acked[id] = h.lines
	case sayWork:
	default:
		t.Fatalf("a child says %q", line)
	}
}

// suffer runs the children and kills them after they have printed the number of lines in total.
func (h *history) suffer(t *testing.T, path string, round, lines int) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var children []*exec.Cmd
	for n := range killsInRound {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=r%dc%d", childVariable, round, n), pathVariable+"="+path,
			fmt.Sprintf("%s=%d", clockVariable, round))
		var complaint strings.Builder
		cmd.Stdout, cmd.Stderr = to, &complaint
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, cmd)
	}
	to.Close()
	scanner := bufio.NewScanner(from)
	for n := 0; scanner.Scan(); n++ {
		h.note(t, scanner.Text())
		if n == lines {
			for _, c := range children {
				c.Process.Kill()
			}
		}
	}
	for _, c := range children {
		if c.Wait(); c.ProcessState.ExitCode() != -1 {
			t.Fatalf("a child ended by itself: %s", c.Stderr)
		}
	}
}

// verify compares the file with what was seen.
func (h *history) verify(t *testing.T, path string) {
	t.Helper()
	box, err := OpenToRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	type row struct{ id, source, kind, status string }
	rows, err := box.db.Query(`SELECT id, source_instance_id, kind, status FROM local_device_outbox ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	status, before := map[string]string{}, map[string][]string{}
	for rows.Next() {
		var r row
		if err := rows.Scan(&r.id, &r.source, &r.kind, &r.status); err != nil {
			t.Fatal(err)
		}
		status[r.id] = r.status
		if at := h.delivered[r.id]; at > 0 && r.kind == string(Checkpoint) {
			for _, id := range before[r.source] {
				if d := h.delivered[id]; d == 0 || d > at {
					t.Fatalf("checkpoint %s was delivered at line %d, %s before it at %d", r.id, at, id, d)
				}
			}
		}
		if !h.intended[r.id] {
			t.Fatalf("the file holds %q, which nobody enqueued", r.id)
		}
		before[r.source] = append(before[r.source], r.id)
	}
	for id := range h.kept {
		if status[id] == "" {
			t.Fatalf("%q was kept and is lost", id)
		}
	}
	for id := range h.acked {
		if status[id] != "succeeded" {
			t.Fatalf("%q was acknowledged and is %s", id, status[id])
		}
	}
	for id, s := range status {
		if s == "succeeded" && h.delivered[id] == 0 {
			t.Fatalf("%q counts as sent and was not", id)
		}
	}
}

// finish sends the rest and finds everything delivered.
func (h *history) finish(t *testing.T, path string, hours int) {
	t.Helper()
	ctx, now := context.Background(), time.Now().Add(time.Duration(hours)*time.Hour)
	box, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	_, released := box.Release(ctx, now, now)
	check(t, released)
	for _, source := range sources {
		_, err := box.RequeueDeadLetters(ctx, source, now)
		check(t, err)
	}
	for {
		items := box.mustClaim(t, 100, now)
		for _, i := range items {
			h.note(t, sayDeliver+" "+i.ID)
			check(t, box.Ack(ctx, "", now, i))
			h.note(t, sayAcked+" "+i.ID)
		}
		if len(items) == 0 {
			break
		}
	}
	counts, err := box.Counts(ctx, "", now)
	check(t, err, box.Close())
	if counts.Total != counts.Succeeded || counts.Total != int64(len(h.delivered)) {
		t.Fatalf("at the end %+v, %d delivered", counts, len(h.delivered))
	}
	h.verify(t, path)
}
