package collector

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/slice"
)

// fileServer answers from a script of blob states and error codes, and notes the requests.
type fileServer struct {
	script   []string // "5" for received bytes, "whole", or an error code
	requests []string
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	request := r.Method
	if r.Method == http.MethodPut {
		request += fmt.Sprintf(" %s of %s %s", r.Header.Get(wire.OffsetHeader), r.Header.Get(wire.LengthHeader), body)
	}
	s.requests = append(s.requests, request)
	next := "internal"
	if len(s.script) > 0 {
		next, s.script = s.script[0], s.script[1:]
	}
	received, err := strconv.ParseInt(next, 10, 64)
	if err != nil && next != "whole" {
		status, answer := refuse(400, next)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
		return
	}
	_ = json.MarshalWrite(w, wire.Blob{Object: wire.ObjectBlob, Received: received, Whole: next == "whole"})
}

// TestFileUpload compares the requests that upload a file with the server's answers.
func TestFileUpload(t *testing.T) {
	for _, c := range []struct {
		name, script string
		requests     []string
		refused      string // the code of the error
	}{
		{"new", "0 whole", []string{"GET", "PUT 0 of 5 scans"}, ""},
		{"known", "whole", []string{"GET"}, ""},
		{"continued", "3 whole", []string{"GET", "PUT 3 of 5 ns"}, ""},
		{"in pieces", "0 2 whole", []string{"GET", "PUT 0 of 5 scans", "PUT 2 of 5 ans"}, ""},
		{"received already", "5 whole", []string{"GET", "PUT 5 of 5 "}, ""},
		{"too large", "0 blob_too_large", []string{"GET", "PUT 0 of 5 scans"}, ""},
		{"another offset", "0 blob_offset_mismatch 4 whole", []string{"GET", "PUT 0 of 5 scans", "GET", "PUT 4 of 5 s"}, ""},
		{"wrong content", "0" + strings.Repeat(" blob_content_mismatch 0", 4),
			[]string{"GET", "PUT 0 of 5 scans", "GET", "PUT 0 of 5 scans", "GET", "PUT 0 of 5 scans", "GET",
				"PUT 0 of 5 scans"}, ""},
		{"refused", "0 device_revoked", []string{"GET", "PUT 0 of 5 scans"}, "device_revoked"},
		{"refused at once", "device_revoked", []string{"GET"}, "device_revoked"},
		{"refused later", "0 blob_offset_mismatch device_revoked", []string{"GET", "PUT 0 of 5 scans", "GET"},
			"device_revoked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := &fileServer{script: strings.Fields(strings.NewReplacer("blob_too_large", wire.CodeBlobTooLarge,
				"blob_offset_mismatch", wire.CodeBlobOffset, "blob_content_mismatch", wire.CodeBlobContent).Replace(c.script))}
			p := filePass(t, script)
			hash, _, err := p.c.files().Put(t.Context(), strings.NewReader("scans"))
			if err != nil {
				t.Fatal(err)
			}
			err = p.bringFiles(t.Context(), []slice.Blob{{SHA256: hash}, {SHA256: hash}})
			if c.refused == "" != (err == nil) || err != nil && !strings.Contains(fmt.Sprintf("%+v", err), c.refused) {
				t.Errorf("error %v, want %q", err, c.refused)
			}
			if !slices.Equal(script.requests, c.requests) {
				t.Errorf("requests %q, want %q", script.requests, c.requests)
			}
		})
	}
	gone := &fileServer{script: []string{"0"}}
	missing := strings.Repeat("ab", 32)
	err := filePass(t, gone).bringFiles(t.Context(), []slice.Blob{{SHA256: missing}})
	if err != nil || !slices.Equal(gone.requests, []string{"GET"}) {
		t.Errorf("a file that is not here: %q, %v", gone.requests, err)
	}
}

func filePass(t *testing.T, script http.Handler) *pass {
	t.Helper()
	s := httptest.NewServer(script)
	t.Cleanup(s.Close)
	profile := Profile{SourceInstanceID: source, Queue: filepath.Join(t.TempDir(), "q")}
	return &pass{c: &Collector{Profile: profile}, brought: map[string]bool{}, held: map[string]bool{},
		client: &wire.Client{BaseURL: s.URL, DeviceID: device}, server: wire.State{Capabilities: []string{wire.CanBlobs}},
		beaten: time.Now(), policy: Policy{BeatEvery: time.Hour}, room: make(chan struct{}, 1)}
}

// TestHeldFiles checks that the bytes of a file count as waiting once, and until the file is dropped.
func TestHeldFiles(t *testing.T) {
	p := filePass(t, http.NotFoundHandler())
	hash, _, err := p.c.files().Put(t.Context(), strings.NewReader("scans"))
	if err != nil {
		t.Fatal(err)
	}
	both := []slice.Blob{{SHA256: hash, Bytes: 5}, {SHA256: hash, Bytes: 5}}
	p.holdFiles(both)
	if n := p.waiting.Load(); n != 5 {
		t.Errorf("%d bytes wait, want 5", n)
	}
	if err := p.dropFiles(t.Context(), both); err != nil || p.waiting.Load() != 0 {
		t.Errorf("%d bytes wait after the upload, %v", p.waiting.Load(), err)
	}
	if _, err := p.c.files().Stat(t.Context(), hash); err == nil {
		t.Error("the file is still here")
	}
	if _, _, err = p.c.files().Put(t.Context(), strings.NewReader("left")); err != nil {
		t.Fatal(err)
	}
	if err := p.clearFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.c.files().Dir, "*", "*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}
