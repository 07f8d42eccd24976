package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// eachLine calls do with every line of a file.
func eachLine(path string, do func(line []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return eachLineOf(file, do)
}

func eachLineOf(from io.Reader, do func(line []byte) error) error {
	in := bufio.NewReaderSize(from, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err := do(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// copyFiles writes the files of records into files/, by their hash. A file that the server has lost is listed in
// files/missing.txt. The names of all files become kept.
func (m Maker) copyFiles(ctx context.Context, folder string, streams []api.Stream, entries []StreamEntry,
	kept map[string]bool) error {
	var missing []string
	for _, e := range entries {
		field := blobField(streams, e)
		if field == "" {
			continue
		}
		err := eachLine(filepath.Join(folder, filepath.FromSlash(e.Path)), func(line []byte) error {
			hash := blobHash(line, field)
			if hash == "" {
				return nil
			}
			name := "files/" + hash[:2] + "/" + hash
			if kept[name] {
				return nil
			}
			kept[name] = true
			m.note("files")
			lost, err := m.copyFile(ctx, filepath.Join(folder, "files", hash[:2]), hash)
			if lost {
				missing = append(missing, hash)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	kept["files/missing.txt"] = true
	if err := os.MkdirAll(filepath.Join(folder, "files"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "files", "missing.txt"), []byte(strings.Join(missing, "\n")+"\n"), 0o600)
}

func blobField(streams []api.Stream, e StreamEntry) string {
	i := slices.IndexFunc(streams, func(s api.Stream) bool {
		return s.ConnectionID == e.ConnectionID && s.Name == e.Stream
	})
	return streams[i].Display.Roles["blob"]
}

// blobHash returns the SHA-256 of the file that a record refers to; empty when it has none.
func blobHash(line []byte, field string) string {
	var r struct {
		Data map[string]json.RawMessage `json:"data"`
	}
	var ref struct {
		SHA256 string `json:"sha256"`
	}
	if json.Unmarshal(line, &r) != nil || json.Unmarshal(r.Data[field], &ref) != nil || len(ref.SHA256) != 64 {
		return ""
	}
	for _, c := range ref.SHA256 {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return ""
		}
	}
	return ref.SHA256
}

// copyFile copies one file, unless it is there. It returns true for a file that the server does not have.
func (m Maker) copyFile(ctx context.Context, folder, hash string) (lost bool, err error) {
	place := filepath.Join(folder, hash)
	if _, err := os.Stat(place); err == nil {
		return false, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return false, err
	}
	file, err := os.OpenFile(place+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	err = errors.Join(m.Owner.CopyFile(ctx, file, hash), file.Close())
	if err != nil {
		_ = os.Remove(place + ".part")
		var e *api.Error
		if errors.As(err, &e) && (e.Code == api.CodeNotFound || e.Code == "file_missing") {
			return true, nil
		}
		return false, err
	}
	return false, os.Rename(place+".part", place)
}

// writeCompleteness writes the report for people and the same for programs.
func writeCompleteness(folder string, streams []StreamEntry) error {
	body, err := json.MarshalIndent(streams, "", "  ")
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("# How complete is this?\n\n| Source | What | Records | Complete | As of |\n|---|---|--:|---|---|\n")
	for _, e := range streams {
		whole, at := "unknown", "unknown"
		if c := e.Completeness; c != nil {
			whole = c.Whole
			if c.AsOf != nil {
				at = c.AsOf.UTC().Format("2006-01-02 15:04 UTC")
			}
		}
		writeRow(&text, e.ConnectionName, e.Label, e.Records, whole, at)
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, "completeness.json"), append(body, '\n'), 0o600),
		os.WriteFile(filepath.Join(folder, "completeness.md"), text.Bytes(), 0o600))
}
