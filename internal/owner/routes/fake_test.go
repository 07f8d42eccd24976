package routes_test

import (
	"context"
	"io"
	"reflect"
	"strings"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// fake is an owner that keeps its last call and returns prepared results.
type fake struct {
	api.Proxy
	method string
	asked  []any // without the context
	give   []any // without the error
	err    error
	// written is what an export writes before it ends.
	written []byte
}

func newFake(prepared fake) *fake {
	f := &fake{}
	f.Invoke = f.invoke
	return f.with(prepared)
}

// with replaces everything but the methods.
func (f *fake) with(other fake) *fake {
	other.Proxy = f.Proxy
	*f = other
	return f
}

func (f *fake) invoke(_ context.Context, method string, arguments []any, results ...any) error {
	f.method, f.asked = method, nil
	for _, argument := range arguments {
		switch a := argument.(type) {
		case io.Writer:
			if _, err := a.Write(f.written); err != nil {
				return err
			}
			continue
		case api.ImportFile:
			a.Content = readAll(a.Content)
			argument = a
		case api.SourceFile:
			a.Content = readAll(a.Content)
			argument = a
		case api.Piece:
			a.Content = readAll(a.Content)
			argument = a
		}
		f.asked = append(f.asked, argument)
	}
	for i := range min(len(results), len(f.give)) {
		if into := reflect.ValueOf(results[i]).Elem(); reflect.TypeOf(f.give[i]) == into.Type() {
			into.Set(reflect.ValueOf(f.give[i]))
		}
	}
	return f.err
}

func readAll(r io.Reader) *strings.Reader {
	content, _ := io.ReadAll(r) // of memory
	return strings.NewReader(string(content))
}
