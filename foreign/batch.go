package foreign

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// fileBatch is a set of records that a tap left in files. It is never requested. If a tap does so anyway, the files
// are read if they are JSON lines, plain or gzip, below the working directory.
type fileBatch struct {
	format, compression string
	files               []string
}

var errBatch = errors.New("the tap left a batch that is not JSON lines below its working directory")

// each calls do for every record of the batch.
func (b fileBatch) each(dir string, do func(jsontext.Value) error) error {
	if b.format != "jsonl" || b.compression != "" && b.compression != "none" && b.compression != "gzip" {
		return errBatch
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the working directory: %w", err)
	}
	defer root.Close()
	for _, address := range b.files {
		if err := b.file(root, dir, address, do); err != nil {
			return err
		}
	}
	return nil
}

func (b fileBatch) file(root *os.Root, dir, address string, do func(jsontext.Value) error) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "file" && u.Scheme != "" || u.Host != "" && u.Host != "localhost" {
		return errBatch
	}
	name := u.Path
	if filepath.IsAbs(name) {
		if name, err = filepath.Rel(dir, name); err != nil {
			return errBatch
		}
	}
	f, err := root.Open(name) // it follows no link out of the directory
	if err != nil {
		return errBatch
	}
	defer f.Close()
	var in io.Reader = f
	if b.compression == "gzip" {
		if in, err = gzip.NewReader(f); err != nil {
			return errBatch
		}
	}
	lines := protocol.NewLineReader(in, 0)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || !jsontext.Value(line).IsValid() || jsontext.Value(line).Kind() != '{' {
			return errBatch
		}
		if err := do(jsontext.Value(line).Clone()); err != nil {
			return err
		}
	}
}
