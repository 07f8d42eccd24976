package localarchive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxElementBytes bounds one element of a list.
const maxElementBytes = 16 << 20

// ListPlace is a place in the lists of a JSON document.
type ListPlace struct {
	List  string `json:"l,omitzero"` // the list's name; empty for a document that is one
	Index int64  `json:"i"`
}

// ReadLists reads the elements of lists in a JSON document of any size: of the document itself,
// or of the members of that name. Text before the first bracket is skipped, as
// scripts have it. Elements before the place from which it goes on are passed over. An error of
// each ends the reading.
func ReadLists(ctx context.Context, r io.Reader, from ListPlace, names []string,
	each func(at ListPlace, element jsontext.Value) error) error {
	return ReadSomeLists(ctx, r, from, names, each, func(string) {})
}

// ReadSomeLists reads lists as Lists does, and calls other with the name of each other member of the
// document. A list before the one from which it goes on was read, and is passed over.
func ReadSomeLists(ctx context.Context, r io.Reader, from ListPlace, names []string,
	each func(at ListPlace, element jsontext.Value) error, other func(name string)) error {
	if from, ok := r.(*openedMember); ok {
		read := each
		each = func(at ListPlace, element jsontext.Value) error {
			from.m.compareElement(at.List, element)
			return read(at, element)
		}
	}
	in, err := JSONDocument(ctx, r)
	if err != nil {
		return err
	}
	bound := &boundedReader{r: in, left: maxElementBytes}
	dec := jsontext.NewDecoder(bound, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() == '[' {
		return readElements(dec, bound, "", from, each)
	}
	if _, err := dec.ReadToken(); err != nil {
		return malformedDocument(err)
	}
	reached := from.List == ""
	for dec.PeekKind() != '}' {
		bound.left = maxElementBytes
		t, err := dec.ReadToken()
		if err != nil {
			return malformedDocument(err)
		}
		name := t.String()
		reached = reached || name == from.List
		if reached && slices.Contains(names, name) && dec.PeekKind() == '[' {
			if err := readElements(dec, bound, name, from, each); err != nil {
				return err
			}
			continue
		}
		if reached && !slices.Contains(names, name) {
			other(name)
		}
		if err := skipValue(dec, bound); err != nil {
			return malformedDocument(err)
		}
	}
	_, err = dec.ReadToken()
	return malformedDocument(err)
}

// JSONDocument returns a JSON document from its first bracket on.
func JSONDocument(ctx context.Context, r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(DecodedText(r), 64<<10)
	if err := skipToBracket(in); err != nil {
		return nil, err
	}
	return contextReader{ctx, in}, nil
}

func readElements(dec *jsontext.Decoder, bound *boundedReader, list string, from ListPlace,
	each func(ListPlace, jsontext.Value) error) error {
	if _, err := dec.ReadToken(); err != nil {
		return malformedDocument(err)
	}
	for i := int64(0); dec.PeekKind() != ']'; i++ {
		bound.left = maxElementBytes
		if list == from.List && i < from.Index {
			if err := skipValue(dec, bound); err != nil {
				return malformedDocument(err)
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil {
			return malformedDocument(err)
		}
		if err := each(ListPlace{list, i}, v); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return malformedDocument(err)
}

// skipValue passes over a value of any size.
func skipValue(dec *jsontext.Decoder, bound *boundedReader) error {
	depth := dec.StackDepth()
	for {
		bound.left = maxElementBytes
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		if dec.StackDepth() <= depth {
			return nil
		}
	}
}

// boundedReader ends a document of which one piece is too large to be held.
type boundedReader struct {
	r    io.Reader
	left int64
}

var errElementTooLarge = errors.New("an element is too large")

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errElementTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// skipToBracket skips the text before the document.
func skipToBracket(in *bufio.Reader) error {
	for n := 0; n < 64<<10; {
		head, err := in.Peek(512)
		if len(head) == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return malformedDocument(err)
		}
		if at := bytes.IndexAny(head, "[{"); at >= 0 {
			_, err := in.Discard(at)
			return err
		}
		n += len(head)
		if _, err := in.Discard(len(head)); err != nil {
			return err
		}
	}
	return malformedDocument(errors.New("it holds no list"))
}

// malformedDocument returns the error for a damaged document, or that of its reader.
func malformedDocument(err error) error {
	if err == nil || errors.Is(err, errArchiveTooLarge) || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
