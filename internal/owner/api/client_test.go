package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

const invented = "pdpp_ot_invented_for_a_test"

// answering is a client of a server that answers everything in one way.
func answering(t *testing.T, handle http.HandlerFunc) *api.Client {
	t.Helper()
	srv := httptest.NewServer(handle)
	t.Cleanup(srv.Close)
	return api.NewClient(srv.URL, invented, srv.Client())
}

// failure returns the error after checking that it has a code, a message and a next step.
func failure(t *testing.T, err error) *api.Error {
	t.Helper()
	var known *api.Error
	if !errors.As(err, &known) {
		t.Fatalf("error is %v", err)
	}
	if known.Code == "" || known.Message == "" || known.Next == "" {
		t.Errorf("error is not whole: %+v", known)
	}
	return known
}

// carrying answers without a network.
type carrying func(*http.Request) (*http.Response, error)

func (c carrying) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func TestUnreachableServer(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	client := api.NewClient(srv.URL, invented, nil)
	_, err := client.Overview(t.Context())
	if e := failure(t, err); e.Code != api.CodeUnreachable || !strings.Contains(e.Next, "pdpp serve") {
		t.Errorf("%+v", e)
	}
	if err := client.Export(t.Context(), io.Discard, api.ExportQuery{}); failure(t, err).Code != api.CodeUnreachable {
		t.Errorf("export: %v", err)
	}
}

// Following a redirect would send the token to the server that the redirect names.
func TestRedirectsAreNotFollowed(t *testing.T) {
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer elsewhere.Close()
	client := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	_, err := client.Tokens(t.Context())
	if failure(t, err); reached {
		t.Error("the redirect was followed")
	}
}

// The client distinguishes a foreign server's response from a refusal by a PDPP server.
func TestForeignAnswers(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"page of a proxy": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			fmt.Fprint(w, "<html>Bad gateway</html>")
		},
		"page with success": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome</html>") },
		"other JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			fmt.Fprint(w, `{"message":"no route"}`)
		},
		"nothing": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := answering(t, handle).Runtime(t.Context())
			if e := failure(t, err); e.Code != api.CodeUnreachable || e.Status < 400 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// No error and no print shows the token, not even when the other side repeats it.
func TestTokenIsNeverShown(t *testing.T) {
	echo := answering(t, func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		if sent != "Bearer "+invented {
			t.Errorf("sent %q", sent)
		}
		w.WriteHeader(http.StatusUnauthorized)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": "authentication_error",
			"message": sent, "param": sent}})
	})
	_, err := echo.Grants(t.Context())
	e := failure(t, err)
	if e.Status != http.StatusUnauthorized || !strings.Contains(e.Next, "pdpp login") {
		t.Errorf("%+v", e)
	}
	refused := api.NewClient("http://"+invented+".invalid/%zz", invented, nil)
	_, bad := refused.Grants(t.Context())
	for _, shown := range []string{fmt.Sprintf("%v %+v", err, *e), fmt.Sprintf("%v %+v %#v %s", echo, *echo, echo, *echo),
		failure(t, bad).Message} {
		if strings.Contains(shown, invented) {
			t.Errorf("shows the token: %s", shown)
		}
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, base := range []string{"", "pdpp.test", "ftp://pdpp.test", "http://alder:secret@pdpp.test",
		"http://pdpp.test?x=1", "http://pdpp.test#x"} {
		client := api.NewClient(base, "", &http.Client{Transport: carrying(func(r *http.Request) (*http.Response, error) {
			t.Errorf("%q was asked", r.URL)
			return nil, io.EOF
		})})
		_, err := client.Overview(t.Context())
		if e := failure(t, err); e.Code != api.CodeInvalid || strings.Contains(e.Message, "secret") {
			t.Errorf("%q: %+v", base, e)
		}
	}
}

// A server may be served below a path. An id is always one path segment.
func TestAddressIsBelowTheBase(t *testing.T) {
	var got string
	client := api.NewClient("https://house.test/pdpp/", "", &http.Client{
		Transport: carrying(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
		})})
	for id, want := range map[string]string{
		"cin_1":      "https://house.test/pdpp/_ref/connections/cin_1/revoke",
		"..":         "https://house.test/pdpp/_ref/connections/%2E%2E/revoke",
		"a/../b?c#d": "https://house.test/pdpp/_ref/connections/a%2F..%2Fb%3Fc%23d/revoke",
	} {
		if err := client.Revoke(t.Context(), id); err != nil || got != want {
			t.Errorf("%q: %q, %v", id, got, err)
		}
	}
	if err := client.Revoke(t.Context(), ""); failure(t, err).Code != api.CodeNotFound {
		t.Errorf("no id: %v", err)
	}
}

// silent is a server that takes a request and never answers.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAnswerHasAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := api.NewClient("http://pdpp.test", "", &http.Client{Transport: carrying(silent)})
		began := time.Now()
		_, err := client.Overview(t.Context())
		if e := failure(t, err); e.Code != api.CodeUnreachable || time.Since(began) != time.Minute {
			t.Errorf("after %v: %+v", time.Since(began), e)
		}
	})
}

// A cancelled request returns a different error than an unavailable server.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := api.NewClient("http://pdpp.test", "", &http.Client{Transport: carrying(silent)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Overview(ctx)
		if failure(t, err); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
	})
}

// drip is a body that returns one line at a time and then blocks.
type drip struct {
	ctx   context.Context
	lines int
	pause time.Duration
}

func (d *drip) Read(b []byte) (int, error) {
	wait := d.pause
	if d.lines == 0 {
		wait = 24 * time.Hour
	}
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(wait):
	}
	d.lines--
	return copy(b, "{}\n"), nil
}

func (d *drip) Close() error { return nil }

// An export has no total time limit, but must not stall for more than a minute.
func TestExportMayBeLongAndNotStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := api.NewClient("http://pdpp.test", "", &http.Client{
			Transport: carrying(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Body: &drip{r.Context(), 100, 50 * time.Second}}, nil
			})})
		began := time.Now()
		var got bytes.Buffer
		err := client.Export(t.Context(), &got, api.ExportQuery{ConnectionID: "cin_1", Stream: "notes", Format: "jsonl"})
		if e := failure(t, err); !strings.Contains(e.Message, "before it was complete") ||
			strings.Count(got.String(), "\n") != 100 {
			t.Errorf("%d lines, %+v", strings.Count(got.String(), "\n"), e)
		}
		if took := time.Since(began); took != 100*50*time.Second+time.Minute {
			t.Errorf("ended after %v", took)
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A place that takes nothing is not the server's fault.
func TestExportThatCannotBeWritten(t *testing.T) {
	client := answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "{}") })
	err := client.Export(t.Context(), fullDisk{}, api.ExportQuery{ConnectionID: "cin_1", Stream: "notes"})
	if e := failure(t, err); e.Code == api.CodeUnreachable || e.Unwrap() == nil {
		t.Errorf("%+v", e)
	}
}

// A deletion has no data, on this side as on the other.
func TestDeletionHasNoData(t *testing.T) {
	client := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"a","data":null,"deleted":true},{"id":"b",`+
			`"data":{"n":12345678901234567890}}]}`)
	})
	page, err := client.Records(t.Context(), api.RecordQuery{ConnectionID: "cin_1", Stream: "notes", Changes: true})
	if err != nil || len(page.Records) != 2 {
		t.Fatalf("%v %v", page, err)
	}
	if page.Records[0].Data != nil || string(page.Records[1].Data) != `{"n":12345678901234567890}` {
		t.Errorf("%q %q", page.Records[0].Data, page.Records[1].Data)
	}
}
