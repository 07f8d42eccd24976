package routes_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/routes"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

var ownerType = reflect.TypeFor[api.Owner]()

// muxOf is the routes and nothing else.
func muxOf(routes []reply.Route) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.Pattern, r.Handle)
	}
	return mux
}

// inProcess carries requests to a handler without a network in between.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	// The handler receives the request as it was written, parsed again.
	arrived := httptest.NewRequest(r.Method, r.URL.String(), r.Body).WithContext(r.Context())
	arrived.Header, arrived.ContentLength = r.Header.Clone(), r.ContentLength
	p.handler.ServeHTTP(w, arrived)
	return w.Result(), nil
}

// clientOf is a client of an owner behind the routes. Everything that passes between
// them is held against the description.
func clientOf(t failer, o api.Owner) *api.Client {
	transport := inProcess{checked{t, muxOf(routes.Routes(o, nil))}}
	return api.NewClient("http://pdpp.test", "invented", &http.Client{Transport: transport})
}

// failer receives test failures.
type failer interface{ Errorf(string, ...any) }

// current forwards to the current case of a property. Registering all routes for each case would cost more than the
// cases.
type current struct{ failer }

// equal compares by JSON semantics: an empty list equals none, and raw documents compare by their content.
var equal = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[json.RawMessage]() },
		cmpopts.EquateEmpty()),
	cmp.Comparer(sameDocument),
	cmp.Comparer(func(a, b *strings.Reader) bool { return sent(a) == sent(b) }),
}

// sent is all that a reader had.
func sent(r *strings.Reader) string {
	all := make([]byte, r.Size())
	_, _ = r.ReadAt(all, 0) // of memory
	return string(all)
}

// difference is empty for what is equal. Most of it is so to the letter, which is cheaper
// to see.
func difference(want, got []any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, equal)
}

func sameDocument(a, b json.RawMessage) bool {
	return meaning(a) == meaning(b)
}

// meaning is the document without the freedom that its writer has.
func meaning(raw json.RawMessage) string {
	var out any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&out) != nil {
		return string(raw)
	}
	plain, _ := json.Marshal(out)
	return string(plain)
}

// For every method of the interface, the owner behind the routes receives the client's arguments, and the client
// returns that owner's results.
//
//pdpp:tier unraced
func TestClientIsTheOwnerBehindTheRoutes(t *testing.T) {
	for i := range ownerType.NumMethod() {
		method := ownerType.Method(i)
		t.Run(method.Name, func(t *testing.T) {
			f, now := newFake(fake{}), &current{}
			client := clientOf(now, f)
			rapid.Check(t, func(t *rapid.T) {
				f.with(fake{})
				now.failer = t
				if method.Name == "Export" || method.Name == "CopyFile" {
					f.written = []byte(texts.Draw(t, "export"))
				}
				asked, sink := drawArguments(t, method)
				want := drawResults(t, method)
				f.give = want
				got, err := invoke(client, method, asked, sink)
				if err != nil {
					t.Fatalf("client: %v", err)
				}
				if f.method != method.Name {
					t.Fatalf("reached %q", f.method)
				}
				if diff := difference(asked, f.asked); diff != "" {
					t.Errorf("arguments on the way (-sent +arrived):\n%s", diff)
				}
				if diff := difference(want, got); diff != "" {
					t.Errorf("results on the way (-given +got):\n%s", diff)
				}
				if !bytes.Equal(sink.Bytes(), f.written) {
					t.Errorf("export: %q, want %q", sink.Bytes(), f.written)
				}
			})
		})
	}
}

// Every error that an owner can act on arrives whole, from every method.
//
//pdpp:tier unraced
func TestErrorsArriveWhole(t *testing.T) {
	asked := map[string][]any{}
	for i := range ownerType.NumMethod() {
		method := ownerType.Method(i)
		if method.Type.NumIn() == 1 {
			continue // only a context
		}
		asked[method.Name] = rapid.Custom(func(t *rapid.T) []any {
			arguments, _ := drawArguments(t, method)
			return arguments
		}).Example(i)
	}
	words := rapid.StringOfN(rapid.RuneFrom([]rune("abcdefghijklmnopqrstuvwxyz_")), 1, 20, -1)
	f, now := newFake(fake{}), &current{}
	client := clientOf(now, f)
	rapid.Check(t, func(t *rapid.T) {
		now.failer = t
		want := &api.Error{
			Status: rapid.IntRange(400, 599).Draw(t, "status"), Code: words.Draw(t, "code"), Message: texts.Draw(t, "message"),
			Next: words.Draw(t, "next"), Param: texts.Draw(t, "param"), RunID: texts.Draw(t, "run"),
			ConnectionID: texts.Draw(t, "connection"),
			Until:        rapid.Ptr(rapid.Just(time.Date(2026, 3, 10, 14, 5, 0, 0, time.UTC)), true).Draw(t, "until"),
		}
		for i := range ownerType.NumMethod() {
			method := ownerType.Method(i)
			f.with(fake{err: want})
			_, err := invoke(client, method, asked[method.Name], io.Discard)
			var got *api.Error
			if !errors.As(err, &got) {
				t.Fatalf("%s: error is %v", method.Name, err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(api.Error{}, "Err")); diff != "" {
				t.Errorf("%s: error on the way (-given +got):\n%s", method.Name, diff)
			}
		}
	})
}

// drawArguments makes what follows the context. Ids are not empty, only the key of a
// record can be "/", and numbers that count are not negative.
func drawArguments(t *rapid.T, m reflect.Method) ([]any, *bytes.Buffer) {
	var out []any
	for i := 1; i < m.Type.NumIn(); i++ {
		switch typ := m.Type.In(i); {
		case typ == reflect.TypeFor[io.Writer]():
		case typ == reflect.TypeFor[api.ImportFile]():
			content := "file " + texts.Draw(t, "content")
			out = append(out, api.ImportFile{Name: texts.Draw(t, "name"), Bytes: int64(len(content)),
				Content: strings.NewReader(content)})
		case typ == reflect.TypeFor[api.SourceFile]():
			content := "source " + texts.Draw(t, "content")
			out = append(out, api.SourceFile{Name: "a" + texts.Draw(t, "name"), SHA256: texts.Draw(t, "sum"),
				Bytes: int64(len(content)), Content: strings.NewReader(content)})
		case typ == reflect.TypeFor[api.Piece]():
			content := "piece " + texts.Draw(t, "content")
			out = append(out, api.Piece{Offset: rapid.Int64Range(0, 1<<53).Draw(t, "place"), SHA256: texts.Draw(t, "sum"),
				Bytes: int64(len(content)), Content: strings.NewReader(content)})
		case typ.Kind() == reflect.String:
			key := m.Name == "Record" && i == m.Type.NumIn()-1
			out = append(out, texts.Filter(func(s string) bool { return s != "" && (key || s != "/") }).Draw(t, "id"))
		case typ.Kind() == reflect.Int:
			out = append(out, rapid.IntRange(0, 1000).Draw(t, "count"))
		case typ.Kind() == reflect.Int64:
			out = append(out, rapid.Int64Range(0, 1<<53).Draw(t, "place"))
		default:
			out = append(out, draw(t, typ).Interface())
		}
	}
	return out, &bytes.Buffer{}
}

func drawResults(t *rapid.T, m reflect.Method) []any {
	var out []any
	for i := range m.Type.NumOut() - 1 {
		out = append(out, draw(t, m.Type.Out(i)).Interface())
	}
	return out
}

// invoke calls a method of the interface with the arguments in their places.
func invoke(o api.Owner, m reflect.Method, asked []any, sink io.Writer) ([]any, error) {
	in := []reflect.Value{reflect.ValueOf(context.Background())}
	for i := 1; i < m.Type.NumIn(); i++ {
		if m.Type.In(i) == reflect.TypeFor[io.Writer]() {
			in = append(in, reflect.ValueOf(sink))
			continue
		}
		if f, is := asked[0].(api.ImportFile); is {
			_, _ = f.Content.(*strings.Reader).Seek(0, io.SeekStart) // the same file may be sent several times
		} else if f, is := asked[0].(api.SourceFile); is {
			_, _ = f.Content.(*strings.Reader).Seek(0, io.SeekStart) // as above
		} else if p, is := asked[0].(api.Piece); is {
			_, _ = p.Content.(*strings.Reader).Seek(0, io.SeekStart) // as above
		}
		in = append(in, reflect.ValueOf(asked[0]))
		asked = asked[1:]
	}
	results := reflect.ValueOf(o).MethodByName(m.Name).Call(in)
	var out []any
	for _, r := range results[:len(results)-1] {
		out = append(out, r.Interface())
	}
	err, _ := results[len(results)-1].Interface().(error)
	return out, err
}
