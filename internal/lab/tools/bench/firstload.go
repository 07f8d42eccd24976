package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
)

// wholeLoad is the first load of the long form, in MB of transcripts.
const wholeLoad = 1000

// measureFirstLoad loads a gigabyte from a computer into a server, both on this machine, and counts what
// came. It takes minutes and belongs to no other run: it is measured when it is asked for. What is not
// there in time is told as it stands.
func measureFirstLoad(ctx context.Context, c config, dir string, r *report) error {
	if c.Only != "firstload" {
		return nil
	}
	return withDevice(ctx, dir, func(d *device, s *server) error {
		limited, cancel := context.WithTimeout(ctx, c.FirstLoadTime)
		defer cancel()
		before, err := s.cpu()
		if err != nil {
			return err
		}
		took, err := d.firstLoad(limited, wholeLoad, s, r)
		late := errors.Is(limited.Err(), context.DeadlineExceeded)
		if err != nil && !late {
			return err
		}
		after, cpuErr := s.cpu()
		stored, countErr := d.stored(ctx, "messages")
		if err := errors.Join(cpuErr, countErr); err != nil {
			return err
		}
		lines := transcriptFiles(wholeLoad)*firstLoadLines + 1
		note := fmt.Sprintf("%d of %d lines are stored", stored, lines)
		if late {
			r.tell(figure{Name: "first load of 1 GB, lines that came in time", Value: 100 * float64(stored) / float64(lines), Unit: "%", AtLeast: 100,
				Note: fmt.Sprintf("%s after %s", note, c.FirstLoadTime)})
			return nil
		}
		if stored != lines {
			return fmt.Errorf("the first load: %s", note)
		}
		// 2.5 GB of records are to come in 8 minutes to a server on the same machine.
		r.tell(figure{Name: "first load of 1 GB, end to end", Value: took.Seconds(), Unit: "s", Below: wholeLoad / 2500. * 480, Note: note})
		r.tell(figure{Name: "first load of 1 GB, the server", Value: wholeLoad / (after - before).Seconds(), Unit: "MB per CPU-s", AtLeast: 20})
		return nil
	})
}

// stored is how many records of a stream the server has.
func (d *device) stored(ctx context.Context, stream string) (n int, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(d.server, "pdpp.db")+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM records JOIN streams USING (stream_id) WHERE name = ?`, stream).Scan(&n)
	return n, err
}

// transcriptFiles is how many files make so many MB.
func transcriptFiles(mb int) int { return max(1, mb*1e6/(firstLoadLines*(firstLoadBytes+200))) }
