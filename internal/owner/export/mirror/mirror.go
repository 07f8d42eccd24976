// Package mirror keeps a folder of files that follows the changes of all streams.
//
// A stream is a folder of parts, each named by the changes that it holds. The names are the whole state: a part
// appears when it is complete, and the next pass continues behind the last part.
package mirror

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/filelock"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/export"
)

const (
	// usualPart is how many changes a part holds.
	usualPart = 10_000
	// pageSize is the largest page of changes.
	pageSize = 1000
	// stateFile has what the names of a stream's parts do not have.
	stateFile = "stream.json"
)

// Mirror is a folder that follows the changes.
type Mirror struct {
	Owner  api.Owner
	Format export.Format // jsonl or parquet
	Folder string
	// Only is the connection to follow; empty means all.
	Only string
	// PartSize is how many changes a part holds; zero means 10,000.
	PartSize int
	// Written is called after every part. It may be nil.
	Written func(path string)
}

// Pass is what one pass did.
type Pass struct {
	Streams int `json:"streams"`
	Changes int `json:"changes"`
	Parts   int `json:"parts"`
	// Rebuilt counts the streams that were rewritten, because records were deleted for good, or to replace many
	// parts by one.
	Rebuilt int `json:"rebuilt"`
	// OldestAt is when the oldest change of a later pass was made, so that its age is how far the folder was behind.
	OldestAt *time.Time `json:"oldest_change_at,omitempty"`
}

// ErrInUse means that another process writes into the folder.
var ErrInUse = errors.New("another mirror writes into the folder")

// lockFile is locked by the process that writes into the folder.
const lockFile = "mirror.lock"

// part is a file with the changes from one number through another.
type part struct {
	from, through int64
	bytes         int64
	path          string
}

// Follow brings the folder up to date, and again after every tick, until the context ends or ticks is closed. It
// returns ErrInUse while another process does so.
func (m Mirror) Follow(ctx context.Context, ticks <-chan struct{}, report func(Pass)) error {
	if err := os.MkdirAll(m.Folder, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(m.Folder, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // ends the lock
	if locked, err := filelock.TryLock(lock); err != nil || !locked {
		return cmp.Or(err, ErrInUse)
	}
	for first := true; ; first = false {
		p, err := m.Update(ctx)
		if err != nil {
			return err
		}
		if first {
			p.OldestAt = nil // what was there before is not late
		}
		report(p)
		select {
		case <-ctx.Done():
			return nil
		case _, more := <-ticks:
			if !more {
				return nil
			}
		}
	}
}

// Update brings the folder up to date once. After a crash at any moment, the next call continues: no change is lost,
// and none is in two parts.
func (m Mirror) Update(ctx context.Context) (p Pass, err error) {
	streams, err := m.Owner.Streams(ctx, m.Only)
	if err != nil {
		return p, err
	}
	for i := range streams {
		if err := m.stream(ctx, &streams[i], &p); err != nil {
			return p, err
		}
		p.Streams++
	}
	return p, m.writeViews(streams)
}

func (m Mirror) folderOf(s *api.Stream) string {
	return filepath.Join(m.Folder, filepath.FromSlash(export.StreamPath(s)))
}

func (m Mirror) stream(ctx context.Context, s *api.Stream, p *Pass) error {
	folder := m.folderOf(s)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	parts, err := m.parts(folder)
	if err != nil {
		return err
	}
	purged, err := readState(folder)
	if err != nil {
		return err
	}
	if s.PurgedSeq > purged { // what is gone for good must not stay in a part
		if len(parts) > 0 {
			if err := m.rebuild(ctx, s, folder, p); err != nil {
				return err
			}
		}
		if err := writeState(folder, s.PurgedSeq); err != nil {
			return err
		}
		if parts, err = m.parts(folder); err != nil {
			return err
		}
	}
	after := int64(0)
	if len(parts) > 0 {
		after = parts[len(parts)-1].through
	}
	for {
		through, err := m.write(ctx, s, folder, after, m.partSize(), p)
		if err != nil {
			return err
		}
		if through == after {
			break
		}
		after = through
	}
	if parts, err = m.parts(folder); err != nil || !outgrown(parts) {
		return err
	}
	return m.rebuild(ctx, s, folder, p)
}

func (m Mirror) partSize() int {
	if m.PartSize > 0 {
		return m.PartSize
	}
	return usualPart
}

// outgrown reports whether the parts after the first exceed 30 % of it.
func outgrown(parts []part) bool {
	var later int64
	for i := range parts {
		if i > 0 {
			later += parts[i].bytes
		}
	}
	return len(parts) > 1 && later*10 > parts[0].bytes*3
}

// rebuild writes one part with everything. It replaces all parts.
func (m Mirror) rebuild(ctx context.Context, s *api.Stream, folder string, p *Pass) error {
	through, err := m.write(ctx, s, folder, 0, 0, p)
	if err != nil {
		return err
	}
	p.Rebuilt++
	parts, err := m.allParts(folder)
	if err != nil {
		return err
	}
	for _, old := range parts {
		if old.from != 1 || old.through != through {
			if err := os.Remove(old.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes a part with up to most changes after a number; zero means all. It returns the number of the last one.
func (m Mirror) write(ctx context.Context, s *api.Stream, folder string, after int64, most int, p *Pass,
) (through int64, err error) {
	page, err := m.page(ctx, s, after)
	if err != nil || len(page) == 0 {
		return after, err
	}
	through = after
	waiting := filepath.Join(folder, "next"+m.Format.Suffix+".tmp")
	n := 0
	err = export.CreateFile(waiting, func(to io.Writer) error {
		w, possible, err := m.Format.OpenChanges(to, *s)
		if err == nil && !possible {
			err = fmt.Errorf("a mirror cannot be written as %s", m.Format.Name)
		}
		for err == nil && len(page) > 0 {
			for i := range page {
				if err := w.Write(s, &export.Record{Record: page[i]}); err != nil {
					return err
				}
				if at := page[i].ChangedAt; p.OldestAt == nil || at.Before(*p.OldestAt) {
					p.OldestAt = &at
				}
				through = page[i].Seq
				n++
			}
			if most > 0 && n >= most {
				break
			}
			page, err = m.page(ctx, s, through)
		}
		if err != nil {
			return err
		}
		return w.Close()
	})
	if err != nil {
		return after, errors.Join(err, removeIfThere(waiting))
	}
	path := filepath.Join(folder, fmt.Sprintf("%012d-%012d%s", after+1, through, m.Format.Suffix))
	if err := errors.Join(os.Rename(waiting, path), export.SyncFolder(folder)); err != nil {
		return after, err
	}
	p.Changes, p.Parts = p.Changes+n, p.Parts+1
	if m.Written != nil {
		m.Written(path)
	}
	return through, nil
}

func (m Mirror) page(ctx context.Context, s *api.Stream, after int64) ([]api.Record, error) {
	return m.Owner.Changes(ctx, api.ChangeQuery{ConnectionID: s.ConnectionID, Stream: s.Name, After: after,
		Limit: min(pageSize, m.partSize())})
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// parts returns the parts of a stream in their order. It removes what a crash left: files that are not complete, and
// parts that a later one contains.
func (m Mirror) parts(folder string) ([]part, error) {
	all, err := m.allParts(folder)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	end := int64(0)
	for _, p := range all { // in the order of their beginnings, the longest first
		if p.through <= end {
			if err := os.Remove(p.path); err != nil {
				return nil, err
			}
			continue
		}
		if p.from != end+1 {
			return nil, fmt.Errorf("the mirror lacks the changes from %d to %d of %s", end+1, p.from-1,
				filepath.Base(folder))
		}
		kept, end = append(kept, p), p.through
	}
	return kept, nil
}

func (m Mirror) allParts(folder string) (all []part, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		p := part{path: filepath.Join(folder, entry.Name())}
		if strings.HasSuffix(entry.Name(), ".tmp") || strings.HasSuffix(entry.Name(), ".part") {
			if err := os.Remove(p.path); err != nil {
				return nil, err
			}
			continue
		}
		name, ours := strings.CutSuffix(entry.Name(), m.Format.Suffix)
		if !ours {
			continue
		}
		if _, err := fmt.Sscanf(name, "%d-%d", &p.from, &p.through); err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		p.bytes = info.Size()
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b part) int {
		if a.from != b.from {
			return int(a.from - b.from)
		}
		return int(b.through - a.through)
	})
	return all, nil
}

// streamState is the content of stateFile.
type streamState struct {
	Purged int64 `json:"purged_change_seq"`
}

func readState(folder string) (purged int64, err error) {
	body, err := os.ReadFile(filepath.Join(folder, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var state streamState
	if err == nil {
		err = json.Unmarshal(body, &state)
	}
	return state.Purged, err
}

func writeState(folder string, purged int64) error {
	body, err := json.Marshal(streamState{purged})
	if err != nil {
		return err
	}
	return export.CreateFile(filepath.Join(folder, stateFile), func(to io.Writer) error {
		_, err := to.Write(append(body, '\n'))
		return err
	})
}
