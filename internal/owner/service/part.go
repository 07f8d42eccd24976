package service

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/protocol"
)

const (
	// partMark begins and partEnding ends the name of a file that is being received; readers of
	// folders know the ending. aboutEnding is of what is known about one that comes in pieces.
	partMark    = ".receiving-"
	partEnding  = ".part"
	aboutEnding = ".about.part"
	// abandonedAfter is when a part that nobody writes to is one that a dead process left, and
	// uploadsKept when an upload is one that nobody goes on with.
	abandonedAfter = time.Hour
	uploadsKept    = 3 * 24 * time.Hour
	// pieceBuffer is how much of a piece is held in memory.
	pieceBuffer = 256 << 10
)

func partPath(folder, id string) string  { return filepath.Join(folder, partMark+id+partEnding) }
func aboutPath(folder, id string) string { return filepath.Join(folder, partMark+id+aboutEnding) }

// part is a file that comes in pieces. It lies beside the place that it gets, as what is known about
// it does, so that whoever has the folder can go on with it, and no piece outlives it.
type part struct {
	folder, id string
	about
	received int64
	touched  time.Time // when the last piece came
}

// about is what is known about a part.
type about struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	// Sum is the state of the hash over the first Summed bytes: what came is not read again when
	// the last piece comes.
	Summed int64  `json:"summed,omitempty"`
	Sum    []byte `json:"sum,omitempty"`
}

// newPart makes the files of a part. What is known comes last: before, it is a part like any other
// that a dead process left.
func newPart(folder, id string, a about) (*part, error) {
	out, err := os.OpenFile(partPath(folder, id), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, unwritable(err)
	}
	p := &part{folder: folder, id: id, about: a, touched: time.Now()}
	if err := errors.Join(out.Close(), p.note()); err != nil {
		p.drop()
		return nil, unwritable(err)
	}
	syncFolder(folder)
	return p, nil
}

// openPart finds a part; fs.ErrNotExist when there is none.
func openPart(folder, id string) (*part, error) {
	body, err := os.ReadFile(aboutPath(folder, id))
	if err != nil {
		return nil, err
	}
	p := &part{folder: folder, id: id}
	if err := json.Unmarshal(body, &p.about); err != nil {
		return nil, fmt.Errorf("read what is known about an upload: %w", err)
	}
	info, err := os.Lstat(partPath(folder, id))
	if err != nil {
		return nil, err
	}
	p.received, p.touched = info.Size(), info.ModTime()
	return p, nil
}

// partsIn lists the parts of a folder that come in pieces.
func partsIn(folder string) (all []*part) {
	entries, _ := os.ReadDir(folder) // a folder that is not there has none
	for _, e := range entries {
		id, is := strings.CutSuffix(strings.TrimPrefix(e.Name(), partMark), aboutEnding)
		if !is || !strings.HasPrefix(e.Name(), partMark) {
			continue
		}
		if p, err := openPart(folder, id); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// note keeps what is known.
func (p *part) note() error {
	body, err := json.Marshal(p.about)
	if err != nil {
		return err
	}
	fresh := partPath(p.folder, p.id+".note")
	if err := os.WriteFile(fresh, body, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, aboutPath(p.folder, p.id))
}

func (p *part) drop() {
	_ = os.Remove(aboutPath(p.folder, p.id)) // what is left is swept
	_ = os.Remove(partPath(p.folder, p.id))
}

// writing orders the pieces of this process. A sender whose line broke may be back before its old
// line is given up: the old one finds that somebody else went on, and writes no more.
var writing sync.Mutex

// take adds a piece that begins at offset, and gives the sum of everything so far. What came before
// an error stays.
func (p *part) take(ctx context.Context, offset int64, content io.Reader) (hash.Hash, error) {
	out, err := os.OpenFile(partPath(p.folder, p.id), os.O_RDWR, 0)
	if err != nil {
		return nil, unwritable(err)
	}
	defer func() { _ = out.Close() }()
	if offset != p.received {
		return nil, elsewhere()
	}
	sum, err := p.sum(out)
	if err != nil {
		return nil, err
	}
	if content == nil {
		content = strings.NewReader("")
	}
	err = p.copy(out, sum, &source{ctx: ctx, r: content})
	return sum, errors.Join(err, p.settle(out, sum))
}

// sum is the sum of what has come.
func (p *part) sum(out *os.File) (hash.Hash, error) {
	sum := sha256.New()
	from := p.Summed
	if from > p.received || len(p.Sum) == 0 || sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.Sum) != nil {
		sum, from = sha256.New(), 0
	}
	if _, err := io.Copy(sum, io.NewSectionReader(out, from, p.received-from)); err != nil {
		return nil, unwritable(err)
	}
	return sum, nil
}

func (p *part) copy(out *os.File, sum hash.Hash, in *source) error {
	buffer := make([]byte, pieceBuffer)
	for {
		n, err := in.Read(buffer)
		if n > 0 {
			if p.received+int64(n) > p.Bytes {
				return api.Invalid("bytes", "More came than the file was said to have.", "Give the file again.")
			}
			if err := p.write(out, buffer[:n]); err != nil {
				return err
			}
			sum.Write(buffer[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case in.ctx.Err() != nil:
			return in.ctx.Err()
		case err != nil:
			return &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err, Message: "The piece did not come to its end. What came of it is kept.", Next: "Go on where it stopped."}
		}
	}
}

func (p *part) write(out *os.File, b []byte) error {
	writing.Lock()
	defer writing.Unlock()
	info, err := out.Stat()
	if err != nil {
		return unwritable(err)
	}
	if info.Size() != p.received {
		return elsewhere()
	}
	n, err := out.WriteAt(b, p.received)
	if err != nil { // a piece of a piece would not be in the sum
		err = errors.Join(err, out.Truncate(p.received))
		if errors.Is(err, syscall.ENOSPC) {
			return noRoom(err)
		}
		return unwritable(err)
	}
	p.received += int64(n)
	return nil
}

// settle makes what came durable, and notes its sum unless somebody else goes on.
func (p *part) settle(out *os.File, sum hash.Hash) error {
	if err := out.Sync(); err != nil {
		return unwritable(err)
	}
	state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return fmt.Errorf("note the sum of an upload: %w", err)
	}
	writing.Lock()
	defer writing.Unlock()
	info, err := out.Stat()
	if err != nil {
		return unwritable(err)
	}
	if info.Size() != p.received {
		return nil
	}
	p.touched = info.ModTime()
	p.Summed, p.Sum = p.received, state
	if err := p.note(); err != nil {
		return unwritable(err)
	}
	return nil
}

// whole gives the file, if all of it has come and is what it was said to be. Otherwise nothing of it
// stays.
func (p *part) whole(sum hash.Hash, said string) (*received, error) {
	if p.SHA256 != "" {
		said = p.SHA256
	}
	if !protocol.IsBlobHash(said) {
		return nil, api.Invalid("sha256", "Nobody said what the file holds.", "Say the SHA-256 of the file with its last piece.")
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != said {
		p.drop()
		return nil, &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeFileDiffers, Param: "sha256", Message: "What came is not the file that was said to come. Nothing was kept.", Next: "Give it again."}
	}
	return &received{folder: p.folder, part: partPath(p.folder, p.id), sha256: said, bytes: p.Bytes}, nil
}

func elsewhere() *api.Error {
	return &api.Error{Status: http.StatusConflict, Code: api.CodeUploadOffset, Param: "offset", Message: "The file goes on elsewhere.", Next: "Ask how much of it has come, and go on there."}
}

// sweepParts removes what dead processes left of files that they received, and what nobody goes on
// with.
func sweepParts(folder string, now time.Time) {
	entries, _ := os.ReadDir(folder) // trouble is told by what follows
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partMark) || !strings.HasSuffix(e.Name(), partEnding) {
			continue
		}
		id := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(e.Name(), partMark), aboutEnding), partEnding)
		age := abandonedAfter
		if p, err := openPart(folder, id); err == nil {
			age = uploadsKept
			if now.Sub(p.touched) <= age {
				continue
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			age = uploadsKept
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
