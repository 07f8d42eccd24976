package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// wholeLoad is the first load of the long form, in MB of transcripts.
const wholeLoad = 1000

// measureFirstLoad loads a gigabyte from a computer into a server, both on this machine, and counts what
// came. It takes minutes and belongs to no other run: it is measured when it is asked for. It ends when all
// is there, or when nothing comes any more: then it is told as it stands.
func measureFirstLoad(ctx context.Context, c config, dir string, r *report) error {
	if c.Only != "firstload" {
		return nil
	}
	return withDevice(ctx, dir, func(d *device, s *server) error {
		moving, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		before, err := s.cpu()
		if err != nil {
			return err
		}
		go d.watchProgress(moving, c.FirstLoadStall, stop)
		took, err := d.firstLoad(moving, wholeLoad, s, r)
		stalled := errors.Is(context.Cause(moving), errStalled)
		if err != nil && !stalled {
			return err
		}
		after, cpuErr := s.cpu()
		stored, countErr := d.stored(ctx, "messages")
		if err := errors.Join(cpuErr, countErr); err != nil {
			return err
		}
		lines := transcriptFiles(wholeLoad)*firstLoadLines + 1
		note := fmt.Sprintf("%d of %d lines are stored", stored, lines)
		if stalled {
			r.tell(figure{Name: "first load of 1 GB, lines that came", Value: 100 * float64(stored) / float64(lines), Unit: "%", AtLeast: 100, Note: note + ", then nothing came"})
			return nil
		}
		if stored != lines {
			return fmt.Errorf("the first load: %s", note)
		}
		// 2.5 GB of records are to come in 8 minutes to a server on the same machine.
		r.tell(figure{Name: "first load of 1 GB, end to end", Value: took.Seconds(), Unit: "s", Below: wholeLoad / 2500. * 480, Note: note})
		r.tell(figure{Name: "first load of 1 GB, lines", Value: float64(lines) / took.Seconds(), Unit: "1/s"})
		r.tell(figure{Name: "first load of 1 GB, the server", Value: wholeLoad / (after - before).Seconds(), Unit: "MB per CPU-s", AtLeast: 20})
		return nil
	})
}

var errStalled = errors.New("nothing comes any more")

// watchProgress ends a load that brings nothing for so long.
func (d *device) watchProgress(ctx context.Context, patience time.Duration, stop context.CancelCauseFunc) {
	look := time.NewTicker(patience / 24)
	defer look.Stop()
	last, since := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if now, err := d.count(ctx, `SELECT last_seq FROM streams WHERE name = ?`, "messages"); err == nil && now > last {
			last, since = now, time.Now()
		}
		if time.Since(since) > patience {
			stop(errStalled)
			return
		}
	}
}

// stored is how many records of a stream the server has.
func (d *device) stored(ctx context.Context, stream string) (int, error) {
	return d.count(ctx, `SELECT count(*) FROM records JOIN streams USING (stream_id) WHERE name = ?`, stream)
}

// count asks the server's database for a number.
func (d *device) count(ctx context.Context, query string, args ...any) (n int, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(d.server, "pdpp.db")+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, err
}

// transcriptFiles is how many files make so many MB.
func transcriptFiles(mb int) int { return max(1, mb*1e6/(firstLoadLines*(firstLoadBytes+200))) }
