package serve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/auth"
	"github.com/pdpp-go/pdpp/internal/web/server"
)

// operation is one address of the server, as its description has it.
type operation struct {
	method, path string
	public       bool
}

// operations are all of them; a test of the description holds it against the routes.
func operations(t *testing.T) (all []operation) {
	t.Helper()
	w := httptest.NewRecorder()
	server.OpenAPI().Handle(w, httptest.NewRequest("GET", "/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Security *[]any `json:"security"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			all = append(all, operation{strings.ToUpper(method), path, op.Security != nil && len(*op.Security) == 0})
		}
	}
	return all
}

// A device's token opens what is its own and nothing else: every address of the server, the
// ids of another device, tokens of other kinds, and tokens that were replaced or ended.
func TestADevicesTokenOpensItsOwnAlone(t *testing.T) {
	var guard *auth.Auth
	onBoth(t, func(g *ground) {
		guard = g.listen()
		g.install("letters", needing("letters", `{"bindings":{"filesystem":{"required":true}}}`), surveyor)
	}, func(t *testing.T, g *ground) {
		base := "http://" + g.config.Listener.Addr().String()
		_, err := guard.Setup(t.Context(), "")
		g.must(err)
		_, ownerToken, err := guard.CreateToken(t.Context(), auth.NewToken{Label: "laptop", Scopes: []string{"all"}})
		g.must(err)
		owner := api.NewClient(base, ownerToken, nil)
		ask := func(method, path, token string, body any) (int, string) {
			t.Helper()
			content, err := json.Marshal(body)
			g.must(err)
			r, err := http.NewRequestWithContext(t.Context(), method, base+path, bytes.NewReader(content))
			g.must(err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set(wire.ProtocolHeader, wire.ProtocolVersion)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			resp, err := http.DefaultTransport.RoundTrip(r) // which follows no redirect
			g.must(err)
			defer resp.Body.Close()
			answer, err := io.ReadAll(resp.Body)
			g.must(err)
			return resp.StatusCode, string(answer)
		}
		enrol := func(label string) (e wire.Enrolled) {
			t.Helper()
			code, err := owner.AddDevice(t.Context(), api.NewDevice{ConnectorID: "letters"})
			g.must(err)
			client := &wire.Client{BaseURL: base}
			e, err = client.Enroll(t.Context(), wire.Enrollment{Code: code.Code, DeviceLabel: label})
			g.must(err)
			return e
		}
		mine, other := enrol("Desk"), enrol("Attic")
		const ours = wire.Root + "/{device}/"
		fill := func(path, device, source string) string {
			return strings.NewReplacer("{device}", device, "{source}", source, "{connection}", mine.ConnectorInstanceID, "{id}",
				mine.ConnectorInstanceID, "{stream}", "letters", "{key}", "k").Replace(path)
		}
		var open int
		for _, op := range operations(t) {
			own := strings.HasPrefix(op.path, ours)
			if op.public || op.path == wire.Root+"/enroll" || strings.HasSuffix(op.path, "/self-revoke") {
				continue
			}
			status, answer := ask(op.method, fill(op.path, mine.DeviceID, mine.SourceInstanceID), mine.DeviceToken, struct{}{})
			refused := status == http.StatusUnauthorized || status == http.StatusForbidden
			if op.path == "/healthz" || op.path == "/readyz" || op.path == "/openapi.json" {
				continue
			}
			if own == refused {
				t.Errorf("%s %s: its own is %v, and answers %d: %s", op.method, op.path, own, status, answer)
			}
			if !own {
				continue
			}
			open++
			if status, answer := ask(op.method, fill(op.path, other.DeviceID, other.SourceInstanceID), mine.DeviceToken,
				struct{}{}); status != http.StatusForbidden {
				t.Errorf("%s %s of another device: %d: %s", op.method, op.path, status, answer)
			}
			if strings.Contains(op.path, "{source}") {
				if status, answer := ask(op.method, fill(op.path, mine.DeviceID, other.SourceInstanceID), mine.DeviceToken,
					struct{}{}); status != http.StatusNotFound {
					t.Errorf("%s %s of another's source: %d: %s", op.method, op.path, status, answer)
				}
			}
			for token, want := range map[string]int{ownerToken: http.StatusForbidden, "pdpp_gt_" +
				strings.Repeat("A", 52): http.StatusForbidden, "": http.StatusUnauthorized} {
				if status, answer := ask(op.method, fill(op.path, mine.DeviceID, mine.SourceInstanceID), token,
					struct{}{}); status != want {
					t.Errorf("%s %s with a token %.8s: %d: %s", op.method, op.path, token, status, answer)
				}
			}
		}
		if open < 8 {
			t.Errorf("a device has %d addresses", open)
		}
		for _, page := range []string{"/", "/settings/devices", "/settings", "/complete", "/sharing", "/sharing/reads",
			"/runs", "/sources/add",
			"/sources/events"} {
			if status, _ := ask("GET", page, mine.DeviceToken, nil); status != http.StatusSeeOther &&
				status != http.StatusUnauthorized {
				t.Errorf("the page %s answers %d", page, status)
			}
		}
		if status, _ := ask("GET", "/metrics", mine.DeviceToken, nil); status != http.StatusUnauthorized {
			t.Errorf("the metrics answer %d", status)
		}

		// A token that was replaced is dead with the first use of the other, and all of a
		// device end with it.
		client := &wire.Client{BaseURL: base, DeviceID: mine.DeviceID, Token: mine.DeviceToken}
		next, err := client.RotateToken(t.Context())
		g.must(err)
		state := fill(ours+"source-instances/{source}/state", mine.DeviceID, mine.SourceInstanceID)
		for _, step := range []struct {
			token string
			want  int
		}{{mine.DeviceToken, 200}, {next.DeviceToken, 200}, {mine.DeviceToken, 401}} {
			if status, answer := ask("GET", state, step.token, nil); status != step.want {
				t.Errorf("a token of two answers %d, want %d: %s", status, step.want, answer)
			}
		}
		g.must(owner.RevokeDevice(t.Context(), mine.DeviceID))
		if status, _ := ask("GET", state, next.DeviceToken, nil); status != http.StatusUnauthorized {
			t.Errorf("a revoked device is answered %d", status)
		}
		theirs := &wire.Client{BaseURL: base, DeviceID: other.DeviceID, Token: other.DeviceToken}
		_, err = theirs.SelfRevoke(t.Context())
		g.must(err)
		if status, _ := ask("POST", fill(ours+"self-revoke", other.DeviceID, ""), other.DeviceToken,
			nil); status != http.StatusUnauthorized {
			t.Errorf("a second self-revoke answers %d", status)
		}
	})
}
