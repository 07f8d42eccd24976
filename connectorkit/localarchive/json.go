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

// maxElement bounds one element of a list.
const maxElement = 16 << 20

// ListPlace is a place in the lists of a JSON document.
type ListPlace struct {
	List  string `json:"l,omitzero"` // the list's name; empty for a document that is one
	Index int64  `json:"i"`
}

// Lists reads the elements of lists in a JSON document of any size: of the document itself,
// or of the members of that name. What stands before the first bracket is passed over, as
// scripts have it. Elements before the place from which it goes on are passed over. An error of
// each ends the reading.
func Lists(ctx context.Context, r io.Reader, from ListPlace, names []string, each func(at ListPlace, element jsontext.Value) error) error {
	return ListsAmong(ctx, r, from, names, each, func(string) {})
}

// ListsAmong reads lists as Lists does, and calls other with the name of each other member of the
// document. A list before the one from which it goes on was read, and is passed over.
func ListsAmong(ctx context.Context, r io.Reader, from ListPlace, names []string,
	each func(at ListPlace, element jsontext.Value) error, other func(name string)) error {
	if from, ok := r.(*opened); ok {
		read := each
		each = func(at ListPlace, element jsontext.Value) error {
			from.m.element(at.List, element)
			return read(at, element)
		}
	}
	in, err := Document(ctx, r)
	if err != nil {
		return err
	}
	bound := &bounded{r: in, left: maxElement}
	dec := jsontext.NewDecoder(bound, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() == '[' {
		return elements(dec, bound, "", from, each)
	}
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	reached := from.List == ""
	for dec.PeekKind() != '}' {
		bound.left = maxElement
		t, err := dec.ReadToken()
		if err != nil {
			return malformed(err)
		}
		name := t.String()
		reached = reached || name == from.List
		if reached && slices.Contains(names, name) && dec.PeekKind() == '[' {
			if err := elements(dec, bound, name, from, each); err != nil {
				return err
			}
			continue
		}
		if reached && !slices.Contains(names, name) {
			other(name)
		}
		if err := skipValue(dec, bound); err != nil {
			return malformed(err)
		}
	}
	_, err = dec.ReadToken()
	return malformed(err)
}

// Document gives a JSON document from its first bracket on.
func Document(ctx context.Context, r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(Text(r), 64<<10)
	if err := toBracket(in); err != nil {
		return nil, err
	}
	return untilDone{ctx, in}, nil
}

func elements(dec *jsontext.Decoder, bound *bounded, list string, from ListPlace, each func(ListPlace, jsontext.Value) error) error {
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	for i := int64(0); dec.PeekKind() != ']'; i++ {
		bound.left = maxElement
		if list == from.List && i < from.Index {
			if err := skipValue(dec, bound); err != nil {
				return malformed(err)
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil {
			return malformed(err)
		}
		if err := each(ListPlace{list, i}, v); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return malformed(err)
}

// skipValue passes over a value of any size.
func skipValue(dec *jsontext.Decoder, bound *bounded) error {
	depth := dec.StackDepth()
	for {
		bound.left = maxElement
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		if dec.StackDepth() <= depth {
			return nil
		}
	}
}

// bounded ends a document of which one piece is too large to be held.
type bounded struct {
	r    io.Reader
	left int64
}

var errElement = errors.New("an element is too large")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errElement
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// toBracket passes over what stands before the document.
func toBracket(in *bufio.Reader) error {
	for n := 0; n < 64<<10; {
		head, err := in.Peek(512)
		if len(head) == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return malformed(err)
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
	return malformed(errors.New("it holds no list"))
}

// malformed is damage of the document, or what its reader says.
func malformed(err error) error {
	if err == nil || errors.Is(err, errTooLarge) || errors.Is(err, ErrDamaged) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
