package thumbnail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/pdpp-go/pdpp/foreign/confine"
	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
)

// Command is the hidden command of this program that makes a small picture of what it reads.
const Command = "thumbnail"

// atOnce is how many pictures are made at a time.
const atOnce = 2

// Config is what a maker needs. All members must be set.
type Config struct {
	Program   string     // this program, which is started again
	Originals blob.Place // where the files of records are
	Folder    string     // where small pictures are kept; it is made with the first
	Now       func() time.Time
	Log       *slog.Logger
}

// Maker gives small pictures. It is safe for concurrent use, by several processes too.
type Maker struct {
	Config
	kept   *shelf
	slots  chan struct{}
	within time.Duration // for one picture
}

// New gives a maker, which has made nothing yet.
func New(c Config) *Maker {
	return &Maker{Config: c, kept: &shelf{dir: c.Folder, now: c.Now, most: mostKept}, slots: make(chan struct{}, atOnce), within: childTime}
}

// Get gives the small picture of the file of that content, a JPEG; nil when none can be made.
// Whoever asks has made sure that they may see the file.
func (m *Maker) Get(ctx context.Context, sha256 string) ([]byte, error) {
	if small, known, err := m.kept.get(sha256); known || err != nil {
		return small, err
	}
	select {
	case m.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-m.slots }()
	if small, known, err := m.kept.get(sha256); known || err != nil {
		return small, err // somebody else asked for it
	}
	// One who leaves meanwhile comes back to what was made.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.within)
	defer cancel()
	original, err := m.Originals.Open(ctx, sha256)
	if err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil, nil
		}
		return nil, fmt.Errorf("open the picture: %w", err)
	}
	defer func() { _ = original.Close() }()
	var small []byte
	if original.Bytes() <= mostInput {
		if small, err = m.start(ctx, original); err != nil {
			m.Log.DebugContext(ctx, "no small picture could be made", "file", sha256, "error", err)
		}
	}
	if err := m.kept.put(sha256, small); err != nil {
		m.Log.WarnContext(ctx, "a small picture could not be kept; it is made again when it is asked for", "error", err)
	}
	return small, nil
}

// start lets a child make a small picture.
func (m *Maker) start(ctx context.Context, original io.Reader) ([]byte, error) {
	said, err := runner.Call(ctx, runner.Command{
		Path: m.Program, Args: []string{Command}, Env: []string{"GOTRACEBACK=none"}, Input: original,
		Limits: confine.Limits{Program: m.Program, Offline: true},
	})
	if err != nil {
		return nil, err
	}
	if !isJPEG(said) {
		return nil, errors.New("the child gave no picture")
	}
	return []byte(said), nil
}

// isJPEG holds the child to what it is for.
func isJPEG(s string) bool {
	return len(s) > 4 && len(s) <= MostBytes && s[:3] == "\xff\xd8\xff" && s[len(s)-2:] == "\xff\xd9"
}
