package localarchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/protocol"
)

// Member is a file of an export, in an archive or unpacked.
type Member struct {
	Name     string // with slashes; below the folder when it is in no archive
	Archive  string // of the archive below the folder; empty when it is in none
	Size     int64  // as declared by the archive; the content may differ
	Modified time.Time

	r       *archiveReading
	n       int64
	kind    *MemberKind
	entry   *Entry
	section *io.SectionReader // of a file that is in no archive
	state   jsontext.Value
	rows    int
	aside   bool          // it only describes another member
	head    *bytes.Buffer // the beginning of the content, to be compared; nil when it is not sampled
}

// cleanName returns a name with forward slashes only, without those at its ends.
func cleanName(name string) string {
	return strings.Trim(strings.ReplaceAll(name, `\`, "/"), "/")
}

// Open returns the content from an offset on. A member of a tar can be opened once.
func (m *Member) Open(ctx context.Context, offset int64) (io.ReadCloser, error) {
	if m.section != nil {
		in := &limitedContent{r: io.NewSectionReader(m.section, offset, m.Size-offset), m: m, left: m.r.limits.Entry}
		return &openedMember{contextReader{ctx, m.recordBeginning(in, offset)}, io.NopCloser(in), m}, nil
	}
	content, err := m.entry.open()
	if err != nil {
		return nil, err
	}
	in := &limitedContent{r: content, m: m, left: m.r.limits.Entry}
	if offset > 0 {
		if err := m.r.f.ReportProgress(ctx, "finding the place in "+m.kind.Name+" again"); err != nil {
			return nil, errors.Join(err, content.Close())
		}
		if _, err := io.CopyN(io.Discard, contextReader{ctx, in}, offset); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: it is shorter than it was", ErrDamaged), content.Close())
		}
		m.r.f.Read(-offset)
	}
	return &openedMember{contextReader{ctx, m.recordBeginning(in, offset)}, content, m}, nil
}

// ReadSiblings reads the members of the same folder with names that match one of the patterns of
// path.Match: they describe the content of this member. What cannot be read of them is
// reported as missing, and is passed over.
func (m *Member) ReadSiblings(ctx context.Context, patterns []string, read func(in io.Reader) error) error {
	folder := path.Dir(m.Name)
	fits := func(name string) bool {
		return path.Dir(name) == folder && slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(p, path.Base(name))
			return ok && err == nil
		})
	}
	each := func(other *Member) error {
		in, err := other.Open(ctx, 0)
		if err != nil {
			return nil //nolint:nilerr // it is declared where it is read itself
		}
		err = read(in)
		_ = in.Close() // it was only read
		if errors.Is(err, ErrDamaged) {
			return nil
		}
		return err
	}
	if m.r.a == nil {
		for _, rel := range m.r.f.Others(fits) {
			h, size, err := m.r.f.OpenOther(rel)
			if err != nil {
				continue
			}
			err = each(&Member{Name: rel, Size: size, r: m.r, kind: m.kind, section: io.NewSectionReader(h, 0, size),
				aside: true})
			_ = h.Close() // it was only read
			if err != nil {
				return err
			}
		}
		return nil
	}
	return m.r.a.walkMembers(ctx, func(e *Entry) error {
		if name := cleanName(e.Name); !e.folder && !e.unsafe && !e.encrypted && isSafeName(e.Name) && fits(name) {
			return each(&Member{Name: name, Archive: m.Archive, Size: e.Size, r: m.r, kind: m.kind, entry: e, aside: true})
		}
		return nil
	})
}

type openedMember struct {
	io.Reader
	io.Closer
	m *Member
}

// limitedContent enforces the limits on content, independent of what its archive declares.
type limitedContent struct {
	r    io.Reader
	m    *Member
	left int64
}

func (c *limitedContent) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.left -= int64(n)
	c.m.r.left -= int64(n)
	c.m.r.f.Read(int64(n))
	if c.left < 0 || c.m.r.left < 0 {
		return n, errArchiveTooLarge
	}
	return n, err
}

// State is what Place kept when this member was interrupted; false when it is new.
func (m *Member) State(into any) bool {
	return len(m.state) > 0 && json.Unmarshal(m.state, into) == nil
}

// Emit brings a record.
func (m *Member) Emit(stream string, rec connectorkit.Record) { m.r.f.Emit(stream, rec) }

// Wants reports whether this run collects the stream.
func (m *Member) Wants(stream string) bool { return m.r.f.Wants([]string{stream}) }

// Place reports that everything up to here was emitted. State returns what is needed to go
// on from it. It is to be called after each row.
func (m *Member) Place(ctx context.Context, state func() any) error {
	return m.r.f.Place(ctx, func() any {
		b, err := json.Marshal(state(), json.Deterministic(true))
		if err != nil {
			return m.r.currentPlace(m.n, nil) // from the member's beginning
		}
		return m.r.currentPlace(m.n, b)
	})
}

// maxRowGaps bounds the gaps of one member that are written by row; the rest is counted.
const maxRowGaps = 100

// Row declares a row or an entry of the member as missing. Number and length locate it.
func (m *Member) Row(number, length int64) { m.Missing(ReasonRowUnreadable, number, length) }

// Missing declares a part of the member as missing, for a reason of the source's own.
func (m *Member) Missing(reason protocol.Reason, number, length int64) {
	if m.rows++; m.rows > maxRowGaps {
		m.r.f.Skip(string(reason))
		return
	}
	part := fmt.Sprintf("#%d", number)
	if m.Archive != "" {
		part = m.entry.Name + part
	}
	m.r.f.Gap(part, reason, false, number, length)
}

// Skip counts something that is left out on purpose, by its kind.
func (m *Member) Skip(kind string) {
	m.r.f.Skip(kind)
	m.r.entries.Count(kind, 1)
}

// ReportProgress sends a progress message for the owner.
func (m *Member) ReportProgress(ctx context.Context, words string) error {
	return m.r.f.ReportProgress(ctx, words)
}
