package imports

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
	// partialFilePrefix and partialFileSuffix enclose the name of a file that is being received. Connectors ignore
	// files with the suffix. partialMetadataSuffix is for the metadata of an upload in pieces.
	partialFilePrefix     = ".receiving-"
	partialFileSuffix     = ".part"
	partialMetadataSuffix = ".about.part"
	// abandonedAfter is the age after which an unchanged partial file without metadata counts as left by a dead
	// process. uploadRetention is the age after which an unfinished upload is removed.
	abandonedAfter  = time.Hour
	uploadRetention = 3 * 24 * time.Hour
	// pieceBuffer is how many bytes of a piece are in memory.
	pieceBuffer = 256 << 10
)

func partialFilePath(folder, id string) string {
	return filepath.Join(folder, partialFilePrefix+id+partialFileSuffix)
}
func partialMetadataPath(folder,
	id string) string {
	return filepath.Join(folder, partialFilePrefix+id+partialMetadataSuffix)
}

// partialFile is an upload in pieces. Its content and its metadata are in the import folder, so that any process with
// the folder can continue the upload.
type partialFile struct {
	folder, id string
	partialFileMetadata
	received int64
	touched  time.Time // when the last piece arrived
}

// partialFileMetadata describes an upload in pieces.
type partialFileMetadata struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	// Sum is the state of the hash over the first Summed bytes, so that the last piece need not read the file again.
	Summed int64  `json:"summed,omitempty"`
	Sum    []byte `json:"sum,omitempty"`
}

// createPartialFile creates the files of an upload. It writes the metadata last: without metadata the content counts
// as left by a dead process.
func createPartialFile(folder, id string, a partialFileMetadata) (*partialFile, error) {
	out, err := os.OpenFile(partialFilePath(folder, id), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, folderNotWritable(err)
	}
	p := &partialFile{folder: folder, id: id, partialFileMetadata: a, touched: time.Now()}
	if err := errors.Join(out.Close(), p.writeMetadata()); err != nil {
		p.removeFiles()
		return nil, folderNotWritable(err)
	}
	syncFolder(folder)
	return p, nil
}

// openPartialFile returns an upload, or fs.ErrNotExist if there is none.
func openPartialFile(folder, id string) (*partialFile, error) {
	body, err := os.ReadFile(partialMetadataPath(folder, id))
	if err != nil {
		return nil, err
	}
	p := &partialFile{folder: folder, id: id}
	if err := json.Unmarshal(body, &p.partialFileMetadata); err != nil {
		return nil, fmt.Errorf("read what is known about an upload: %w", err)
	}
	info, err := os.Lstat(partialFilePath(folder, id))
	if err != nil {
		return nil, err
	}
	p.received, p.touched = info.Size(), info.ModTime()
	return p, nil
}

// listPartialFiles returns the uploads in a folder.
func listPartialFiles(folder string) (all []*partialFile) {
	entries, _ := os.ReadDir(folder) // a missing folder has none
	for _, e := range entries {
		id, is := strings.CutSuffix(strings.TrimPrefix(e.Name(), partialFilePrefix), partialMetadataSuffix)
		if !is || !strings.HasPrefix(e.Name(), partialFilePrefix) {
			continue
		}
		if p, err := openPartialFile(folder, id); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// writeMetadata replaces the metadata file.
func (p *partialFile) writeMetadata() error {
	body, err := json.Marshal(p.partialFileMetadata)
	if err != nil {
		return err
	}
	fresh := partialFilePath(p.folder, p.id+".note")
	if err := os.WriteFile(fresh, body, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, partialMetadataPath(p.folder, p.id))
}

func (p *partialFile) removeFiles() {
	_ = os.Remove(partialMetadataPath(p.folder, p.id)) // sweepParts removes what is left
	_ = os.Remove(partialFilePath(p.folder, p.id))
}

// pieceWriteLock serializes writes of pieces in this process. A sender may reconnect before its old connection times
// out. The old connection then finds that the file has grown and stops writing.
var pieceWriteLock sync.Mutex

// appendPiece appends a piece that begins at offset, and returns the hash of the whole content so far. Bytes that
// arrive before an error stay.
func (p *partialFile) appendPiece(ctx context.Context, offset int64, content io.Reader) (hash.Hash, error) {
	out, err := os.OpenFile(partialFilePath(p.folder, p.id), os.O_RDWR, 0)
	if err != nil {
		return nil, folderNotWritable(err)
	}
	defer func() { _ = out.Close() }()
	if offset != p.received {
		return nil, uploadOffsetError()
	}
	sum, err := p.receivedHash(out)
	if err != nil {
		return nil, err
	}
	if content == nil {
		content = strings.NewReader("")
	}
	err = p.copyContent(out, sum, &senderReader{ctx: ctx, r: content})
	return sum, errors.Join(err, p.syncPiece(out, sum))
}

// receivedHash returns the hash of the received content.
func (p *partialFile) receivedHash(out *os.File) (hash.Hash, error) {
	sum := sha256.New()
	from := p.Summed
	if from > p.received || len(p.Sum) == 0 || sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.Sum) != nil {
		sum, from = sha256.New(), 0
	}
	if _, err := io.Copy(sum, io.NewSectionReader(out, from, p.received-from)); err != nil {
		return nil, folderNotWritable(err)
	}
	return sum, nil
}

func (p *partialFile) copyContent(out *os.File, sum hash.Hash, in *senderReader) error {
	buffer := make([]byte, pieceBuffer)
	for {
		n, err := in.Read(buffer)
		if n > 0 {
			if p.received+int64(n) > p.Bytes {
				return api.Invalid("bytes", "More bytes arrived than announced.", "Send the file again.")
			}
			if err := p.appendBytes(out, buffer[:n]); err != nil {
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
			return &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err,
				Message: "The piece did not arrive completely. The received part is kept.", Next: "Continue where it stopped."}
		}
	}
}

func (p *partialFile) appendBytes(out *os.File, b []byte) error {
	pieceWriteLock.Lock()
	defer pieceWriteLock.Unlock()
	info, err := out.Stat()
	if err != nil {
		return folderNotWritable(err)
	}
	if info.Size() != p.received {
		return uploadOffsetError()
	}
	n, err := out.WriteAt(b, p.received)
	if err != nil { // a partly written piece would not be in the hash
		err = errors.Join(err, out.Truncate(p.received))
		if errors.Is(err, syscall.ENOSPC) {
			return diskFullError(err)
		}
		return folderNotWritable(err)
	}
	p.received += int64(n)
	return nil
}

// syncPiece syncs the content and stores its hash, unless another sender has continued the upload.
func (p *partialFile) syncPiece(out *os.File, sum hash.Hash) error {
	if err := out.Sync(); err != nil {
		return folderNotWritable(err)
	}
	state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return fmt.Errorf("note the sum of an upload: %w", err)
	}
	pieceWriteLock.Lock()
	defer pieceWriteLock.Unlock()
	info, err := out.Stat()
	if err != nil {
		return folderNotWritable(err)
	}
	if info.Size() != p.received {
		return nil
	}
	p.touched = info.ModTime()
	p.Summed, p.Sum = p.received, state
	if err := p.writeMetadata(); err != nil {
		return folderNotWritable(err)
	}
	return nil
}

// completeFile returns the complete file if its content has the announced hash. Otherwise it removes the upload.
func (p *partialFile) completeFile(sum hash.Hash, message string) (*receivedFile, error) {
	if p.SHA256 != "" {
		message = p.SHA256
	}
	if !protocol.IsBlobHash(message) {
		return nil, api.Invalid("sha256", "The checksum of the file is missing.",
			"Send the SHA-256 of the file with its last piece.")
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != message {
		p.removeFiles()
		return nil, &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeFileDiffers, Param: "sha256",
			Message: "The received file does not match its checksum. Nothing was stored.", Next: "Send it again."}
	}
	return &receivedFile{folder: p.folder, part: partialFilePath(p.folder, p.id), sha256: message, bytes: p.Bytes}, nil
}

func uploadOffsetError() *api.Error {
	return &api.Error{Status: http.StatusConflict, Code: api.CodeUploadOffset, Param: "offset",
		Message: "This piece does not follow the received part.",
		Next:    "Ask how many bytes have arrived, and continue there."}
}

// sweepParts removes partial files of dead processes and uploads that were not continued.
func sweepParts(folder string, now time.Time) {
	entries, _ := os.ReadDir(folder) // the caller reports errors of the folder
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), partialFilePrefix) || !strings.HasSuffix(e.Name(), partialFileSuffix) {
			continue
		}
		id := strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(e.Name(), partialFilePrefix), partialMetadataSuffix),
			partialFileSuffix)
		age := abandonedAfter
		if p, err := openPartialFile(folder, id); err == nil {
			age = uploadRetention
			if now.Sub(p.touched) <= age {
				continue
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			age = uploadRetention
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
