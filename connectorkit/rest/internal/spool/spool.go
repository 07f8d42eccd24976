// Package spool holds the items of a list during a run, in their order: in memory while they are few, and then in a
// file.
package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// memory is how many bytes of a list stay in memory.
const memory = 4 << 20

// Spool holds entries in their order. The zero Spool is empty.
type Spool struct {
	recent []byte // what follows the file
	file   *os.File
	size   int64 // of the file
}

// Add appends an entry with a mark of the caller.
func (s *Spool) Add(mark int, entry []byte) error {
	s.recent = binary.AppendUvarint(s.recent, uint64(mark))
	s.recent = binary.AppendUvarint(s.recent, uint64(len(entry)))
	if s.recent = append(s.recent, entry...); len(s.recent) < memory {
		return nil
	}
	if s.file == nil {
		var err error
		if s.file, err = os.CreateTemp("", "list-"); err != nil {
			return fmt.Errorf("keep a list: %w", err)
		}
	}
	n, err := s.file.Write(s.recent)
	s.size, s.recent = s.size+int64(n), s.recent[:0]
	if err != nil {
		return fmt.Errorf("keep a list: %w", err)
	}
	return nil
}

// SpooledItem is one entry of a spool.
type SpooledItem struct {
	Mark int
	Raw  []byte
}

// EachEntry iterates over the entries.
func (s *Spool) EachEntry() iter.Seq2[SpooledItem, error] {
	return func(yield func(SpooledItem, error) bool) {
		from := []io.Reader{bytes.NewReader(s.recent)}
		if s.file != nil {
			from = []io.Reader{io.NewSectionReader(s.file, 0, s.size), from[0]}
		}
		in := newSpoolReader(io.MultiReader(from...))
		for {
			entry, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(SpooledItem{}, fmt.Errorf("read a kept list: %w", err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// Remove deletes the file.
func (s *Spool) Remove() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name()) // the folder of the run is removed too
	}
}
