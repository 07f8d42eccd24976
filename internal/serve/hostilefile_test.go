package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// TestHostileFilesOfADevice sends files with hostile names, types and content through the device API. The
// owner's page shows the names as text, and each download is an attachment that no browser runs.
func TestHostileFilesOfADevice(t *testing.T) {
	var guard *auth.Auth
	onBoth(t, func(g *ground) {
		guard = g.listen()
		g.config.Blobs = launch.Blobs{Place: blob.FolderStorage{Dir: t.TempDir()}, Each: 1000, Run: -1, All: -1}
		m := needing("letters", `{"bindings":{"filesystem":{"required":true}}}`)
		g.install("letters", strings.Replace(m, `"properties":{`,
			`"properties":{"scan":{"type":"integer"},"title":{"type":"string"},`, 1), surveyor)
	}, func(t *testing.T, g *ground) {
		base := "http://" + g.config.Listener.Addr().String()
		password, err := guard.Setup(t.Context(), "")
		g.must(err)
		_, token, err := guard.CreateToken(t.Context(), auth.NewToken{Label: "laptop", Scopes: []string{"all"}})
		g.must(err)
		owner := api.NewClient(base, token, nil)
		code, err := owner.AddDevice(t.Context(), api.NewDevice{ConnectorID: "letters"})
		g.must(err)
		device := &wire.Client{BaseURL: base}
		in, err := device.Enroll(t.Context(), wire.Enrollment{Code: code.Code, DeviceLabel: hostileText})
		g.must(err)
		device.DeviceID, device.Token = in.DeviceID, in.DeviceToken

		names := []string{"<script>alert(1)</script>.html", "../../x", "invoice\u202efdp.exe", "a\r\nSet-Cookie: owned=1",
			`"; filename="b.html`, `..\..\x`}
		kinds := []string{"text/html", "text/html\r\nSet-Cookie: owned=1", "image/svg+xml", "text/html; charset=utf-7",
			"application/xhtml+xml", "text/javascript"}
		var records []slice.Record
		for i, name := range names {
			content := fmt.Sprintf("<svg onload=alert(%d)>", i)
			sum := sha256.Sum256([]byte(content))
			hash := hex.EncodeToString(sum[:])
			_, err := device.PutBlob(t.Context(), in.SourceInstanceID, hash, int64(len(content)), 0, []byte(content))
			g.must(err)
			key := fmt.Sprint("k", i)
			data, err := json.Marshal(map[string]any{"id": key, "title": hostileText, "scan": 1})
			g.must(err)
			records = append(records, slice.Record{Stream: "beds", Key: key, Data: data, EmittedAt: "2026-01-02T03:04:05Z",
				Blobs: []slice.Blob{{Field: "scan", SHA256: hash, Bytes: int64(len(content)), MIME: kinds[i], Name: name}}})
		}
		result, err := device.Ingest(t.Context(), wire.Batch{SourceInstanceID: in.SourceInstanceID, ConnectorID: "letters",
			BatchID: "b1", BatchSeq: 1, Records: records})
		g.must(err)
		if result.Accepted != int64(len(names)) {
			t.Fatalf("the batch: %+v", result)
		}

		signed := httptest.NewRecorder()
		g.must(guard.SignIn(signed, httptest.NewRequest(http.MethodPost, base+"/login", nil), password))
		get := func(path string) (*http.Response, string) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
			g.must(err)
			if strings.HasPrefix(path, "/v1/") {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			for _, c := range signed.Result().Cookies() {
				r.AddCookie(c)
			}
			resp, err := http.DefaultTransport.RoundTrip(r)
			g.must(err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			g.must(err)
			if resp.StatusCode != http.StatusOK || resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
				resp.Header.Get("Set-Cookie") == "owned=1" {
				t.Errorf("%s: %d, %v", path, resp.StatusCode, resp.Header)
			}
			return resp, string(body)
		}
		list := "/search?connection=" + url.QueryEscape(in.ConnectorInstanceID) + "&stream=beds"
		for _, path := range []string{"/", "/settings/devices", "/settings/devices/" + in.DeviceID,
			"/sources/" + in.ConnectorInstanceID,
			list, "/photos", "/search?q=alert"} {
			if _, body := get(path); strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") {
				t.Errorf("%s has markup of a device", path)
			}
		}
		for i, record := range records {
			page := "/thing/" + in.ConnectorInstanceID + "/beds/" + record.Key
			_, body := get(page)
			file := page + "/files/" + record.Blobs[0].SHA256
			if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") ||
				!strings.Contains(body, "&lt;img src=x") || !strings.Contains(body, file) {
				t.Errorf("the page of %q has markup of a device, or lacks its file", names[i])
			}
			if strings.ContainsRune(body, '\u202e') {
				t.Errorf("the page of %q has a character that turns text around", names[i])
			}
			for _, path := range []string{file, "/v1/blobs/" + record.Blobs[0].SHA256} {
				resp, content := get(path)
				disposition, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
				name := params["filename"]
				if err != nil || disposition != "attachment" || strings.ContainsAny(name, `/\`) ||
					strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%s: %q, %v", path, resp.Header.Get("Content-Disposition"), err)
				}
				if !strings.HasPrefix(resp.Header.Get("Content-Security-Policy"), "sandbox") ||
					content != fmt.Sprintf("<svg onload=alert(%d)>", i) {
					t.Errorf("%s: %v, %q", path, resp.Header, content)
				}
			}
		}
	})
}

// hostileText is a text of a device that a page must not take for markup.
const hostileText = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
