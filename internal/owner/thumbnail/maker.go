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
	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
)

// HiddenCommand is the hidden command of this program that makes a small picture of what it reads.
const HiddenCommand = "thumbnail"

// atOnce is how many pictures are made at a time.
const atOnce = 2

// Config is what a maker needs. All members must be set.
type Config struct {
	Program   string       // this program, which is started again
	Originals blob.Storage // where the files of records are
	Folder    string       // where small pictures are kept; it is made with the first
	Now       func() time.Time
	Log       *slog.Logger
}

// Maker returns small pictures. It is safe for concurrent use, including by several processes.
type Maker struct {
	Config
	kept   *shelf
	slots  chan struct{}
	within time.Duration // for one picture
}

// New returns a Maker. It does not access the folder yet.
func New(c Config) *Maker {
	return &Maker{Config: c, kept: &shelf{dir: c.Folder, now: c.Now, most: mostKept}, slots: make(chan struct{}, atOnce),
		within: childTime}
}

// Get returns the small picture of the file with the hash, as a JPEG; nil when none can be made. The caller must
// check the permission to see the file.
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
		return small, err // another request made it in the meantime
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
	message, err := childprocess.Call(ctx, childprocess.Command{
		Path: m.Program, Args: []string{HiddenCommand}, Env: []string{"GOTRACEBACK=none"}, Input: original,
		Limits: confine.Limits{Program: m.Program, Offline: true},
	})
	if err != nil {
		return nil, err
	}
	if !isJPEG(message) {
		return nil, errors.New("the child gave no picture")
	}
	return []byte(message), nil
}

// isJPEG holds the child to what it is for.
func isJPEG(s string) bool {
	return len(s) > 4 && len(s) <= MostBytes && s[:3] == "\xff\xd8\xff" && s[len(s)-2:] == "\xff\xd9"
}
