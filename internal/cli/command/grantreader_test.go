package command

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// answers are the answers of a server, in order.
type answers []string

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	body := (*a)[0]
	*a = (*a)[1:]
	r := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body))}
	if strings.Contains(body, "rate_limit_exceeded") {
		r.StatusCode = http.StatusTooManyRequests
	}
	return r, nil
}

// A reader whose grant has no reads left waits for more, and a page that fails is no end of a stream.
func TestGrantReaderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const record = `{"id":"n1","data":{},"emitted_at":"2026-01-02T03:04:05Z"}`
		said := &answers{`{"data":[` + record + `],"next_cursor":"c"}`,
			`{"error":{"code":"rate_limit_exceeded","message":"Too many reads."}}`, `{"data":[` + record + `]}`, `no answer`}
		g := &grantReader{client: api.NewClient("http://pdpp.example", "pdpp_gt_x", &http.Client{Transport: said})}
		var lines strings.Builder
		q := api.ExportQuery{ConnectionID: "cin_one", Stream: "notes"}
		if err := g.Export(t.Context(), &lines, q); err != nil || strings.Count(lines.String(), "\n") != 2 {
			t.Errorf("%s %v", lines.String(), err)
		}
		var failed *api.Error
		if err := g.Export(t.Context(), &lines, q); !errors.As(err, &failed) || failed.Code != api.CodeUnreachable {
			t.Errorf("no answer: %v", err)
		}
	})
}
