// Package mirror keeps files that follow the changes of all streams, in a folder or in a bucket.
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
	"path"
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

// Destination is where a mirror writes. Names have slashes.
type Destination interface {
	// Local returns a folder of this machine, for the lock and for files in transit.
	Local() string
	// Prefix returns what the views need before a name.
	Prefix() string
	// Sweep removes what a killed process left in the local folder.
	Sweep() error
	// Create stores what write writes, as the name that it returns. The file appears whole or not at all.
	Create(ctx context.Context, write func(io.Writer) (name string, err error)) error
	// Read returns fs.ErrNotExist for an unknown file.
	Read(ctx context.Context, name string) ([]byte, error)
	Remove(ctx context.Context, name string) error
	// List calls use for the files in a folder, which need not exist.
	List(ctx context.Context, folder string, use func(name string, bytes int64)) error
}

// Mirror follows the changes in a place.
type Mirror struct {
	Owner  api.Owner
	Format export.Format // jsonl or parquet
	To     Destination
	// Only is the connection to follow; empty means all.
	Only string
	// PartSize is how many changes a part holds; zero means 10,000.
	PartSize int
	// Written is called after every part. It may be nil.
	Written func(name string)

	memory *memory
}

// memory is what the passes of one process know, so that a pass without changes asks a place for nothing.
type memory struct {
	streams map[string]progress // by folder
	views   string
}

// progress is a stream after a pass.
type progress struct {
	last, purged int64 // changes, as the server counted them before the pass
	parts        bool
}

// Pass is what one pass did.
type Pass struct {
	Streams int `json:"streams"`
	Changes int `json:"changes"`
	Parts   int `json:"parts"`
	// Rebuilt counts the streams that were rewritten, because records were deleted for good, or to replace many
	// parts by one.
	Rebuilt int `json:"rebuilt"`
	// OldestAt is when the oldest new change of a later pass was made, so that its age is how far the place was behind.
	OldestAt *time.Time `json:"oldest_change_at,omitempty"`
}

// ErrInUse means that another process of this machine writes there.
var ErrInUse = errors.New("another mirror writes there")

// lockFile is locked by the process that writes.
const lockFile = "mirror.lock"

// part is a file with the changes from one number through another.
type part struct {
	from, through int64
	bytes         int64
	name          string
}

// Follow brings the place up to date, and again after every tick, until the context ends or ticks is closed. It
// returns ErrInUse while another process does so.
func (m Mirror) Follow(ctx context.Context, ticks <-chan struct{}, report func(Pass)) error {
	if err := os.MkdirAll(m.To.Local(), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(m.To.Local(), lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // ends the lock
	if locked, err := filelock.TryLock(lock); err != nil || !locked {
		return cmp.Or(err, ErrInUse)
	}
	if err := m.To.Sweep(); err != nil {
		return err
	}
	m.memory = &memory{streams: map[string]progress{}}
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

// Update brings the place up to date once. After a crash at any moment, the next call continues: no change is lost,
// and none is in two parts.
func (m Mirror) Update(ctx context.Context) (p Pass, err error) {
	if m.memory == nil {
		m.memory = &memory{streams: map[string]progress{}}
	}
	streams, err := m.Owner.Streams(ctx, m.Only)
	if err != nil {
		return p, err
	}
	for i := range streams {
		s := &streams[i]
		folder, now := export.StreamPath(s), progress{last: s.LastSeq, purged: s.PurgedSeq}
		if old, known := m.memory.streams[folder]; !known || old.last != now.last || old.purged != now.purged {
			if now.parts, err = m.stream(ctx, s, folder, &p); err != nil {
				return p, err
			}
			m.memory.streams[folder] = now
		}
		p.Streams++
	}
	return p, m.writeViews(ctx, streams)
}

// stream brings a stream up to date. It reports whether there are parts.
func (m Mirror) stream(ctx context.Context, s *api.Stream, folder string, p *Pass) (some bool, err error) {
	parts, err := m.parts(ctx, folder)
	if err != nil {
		return false, err
	}
	if s.PurgedSeq > 0 {
		if parts, err = m.forget(ctx, s, folder, parts, p); err != nil {
			return false, err
		}
	}
	after := int64(0)
	if len(parts) > 0 {
		after = parts[len(parts)-1].through
	}
	for {
		written, err := m.write(ctx, s, folder, after, m.partSize(), p)
		if err != nil {
			return false, err
		}
		if written.through == after {
			break
		}
		parts, after = append(parts, written), written.through
	}
	if outgrown(parts) {
		err = m.rebuild(ctx, s, folder, parts, p)
	}
	return len(parts) > 0, err
}

// forget rebuilds a stream if the owner deleted records for good since the last time: they must not stay in a part.
func (m Mirror) forget(ctx context.Context, s *api.Stream, folder string, parts []part, p *Pass) ([]part, error) {
	purged, err := m.readState(ctx, folder)
	if err != nil || s.PurgedSeq <= purged {
		return parts, err
	}
	if len(parts) > 0 {
		if err := m.rebuild(ctx, s, folder, parts, p); err != nil {
			return nil, err
		}
	}
	if err := m.writeState(ctx, folder, s.PurgedSeq); err != nil {
		return nil, err
	}
	return m.parts(ctx, folder)
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
func (m Mirror) rebuild(ctx context.Context, s *api.Stream, folder string, parts []part, p *Pass) error {
	whole, err := m.write(ctx, s, folder, 0, 0, p)
	if err != nil {
		return err
	}
	p.Rebuilt++
	for _, old := range parts {
		if old.name != whole.name {
			if err := m.To.Remove(ctx, old.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// counter counts what is written.
type counter struct {
	to    io.Writer
	bytes int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.bytes += int64(n)
	return n, err
}

// write writes a part with up to most changes after a number; zero means all. Without changes the part ends there.
func (m Mirror) write(ctx context.Context, s *api.Stream, folder string, after int64, most int, p *Pass,
) (written part, err error) {
	written = part{from: after + 1, through: after}
	page, err := m.page(ctx, s, after)
	if err != nil || len(page) == 0 {
		return written, err
	}
	n := 0
	err = m.To.Create(ctx, func(to io.Writer) (name string, err error) {
		counted := &counter{to: to}
		w, possible, err := m.Format.OpenChanges(counted, *s)
		if err == nil && !possible {
			err = fmt.Errorf("a mirror cannot be written as %s", m.Format.Name)
		}
		for err == nil && len(page) > 0 {
			for i := range page {
				if err := w.Write(s, &export.Record{Record: page[i]}); err != nil {
					return "", err
				}
				if at := page[i].ChangedAt; most > 0 && (p.OldestAt == nil || at.Before(*p.OldestAt)) {
					p.OldestAt = &at
				}
				written.through = page[i].Seq
				n++
			}
			if most > 0 && n >= most {
				break
			}
			page, err = m.page(ctx, s, written.through)
		}
		if err == nil {
			err = w.Close()
		}
		written.bytes = counted.bytes
		written.name = fmt.Sprintf("%s/%012d-%012d%s", folder, written.from, written.through, m.Format.Suffix)
		return written.name, err
	})
	if err != nil {
		return part{}, err
	}
	p.Changes, p.Parts = p.Changes+n, p.Parts+1
	if m.Written != nil {
		m.Written(written.name)
	}
	return written, nil
}

func (m Mirror) page(ctx context.Context, s *api.Stream, after int64) ([]api.Record, error) {
	return m.Owner.Changes(ctx, api.ChangeQuery{ConnectionID: s.ConnectionID, Stream: s.Name, After: after,
		Limit: min(pageSize, m.partSize())})
}

// parts returns the parts of a stream in their order. It removes those that a later one contains, which a crash left.
func (m Mirror) parts(ctx context.Context, folder string) ([]part, error) {
	all, err := m.allParts(ctx, folder)
	if err != nil {
		return nil, err
	}
	kept := all[:0]
	end := int64(0)
	for _, p := range all { // in the order of their beginnings, the longest first
		if p.through <= end {
			if err := m.To.Remove(ctx, p.name); err != nil {
				return nil, err
			}
			continue
		}
		if p.from != end+1 {
			return nil, fmt.Errorf("the mirror lacks the changes from %d to %d of %s", end+1, p.from-1, path.Base(folder))
		}
		kept, end = append(kept, p), p.through
	}
	return kept, nil
}

func (m Mirror) allParts(ctx context.Context, folder string) (all []part, err error) {
	err = m.To.List(ctx, folder, func(name string, bytes int64) {
		p := part{name: name, bytes: bytes}
		numbers, ours := strings.CutSuffix(path.Base(name), m.Format.Suffix)
		if _, err := fmt.Sscanf(numbers, "%d-%d", &p.from, &p.through); ours && err == nil {
			all = append(all, p)
		}
	})
	slices.SortFunc(all, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.through, a.through))
	})
	return all, err
}

// streamState is the content of stateFile.
type streamState struct {
	Purged int64 `json:"purged_change_seq"`
}

func (m Mirror) readState(ctx context.Context, folder string) (purged int64, err error) {
	body, err := m.To.Read(ctx, folder+"/"+stateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var state streamState
	if err == nil {
		err = json.Unmarshal(body, &state)
	}
	return state.Purged, err
}

func (m Mirror) writeState(ctx context.Context, folder string, purged int64) error {
	body, err := json.Marshal(streamState{purged})
	if err != nil {
		return err
	}
	return m.create(ctx, folder+"/"+stateFile, string(body)+"\n")
}

func (m Mirror) create(ctx context.Context, name, content string) error {
	return m.To.Create(ctx, func(to io.Writer) (string, error) {
		_, err := io.WriteString(to, content)
		return name, err
	})
}
