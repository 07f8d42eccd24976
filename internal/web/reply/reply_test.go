package reply

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestReadIsStrict(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body, code string
		status           int
	}{
		"good":         {"application/json; charset=utf-8", `{"name":"Ada"}` + "\n", "", 200},
		"no kind":      {"", `{"name":"Ada"}`, "unsupported_media_type", 415},
		"a form":       {"application/x-www-form-urlencoded", `{"name":"Ada"}`, "unsupported_media_type", 415},
		"unknown name": {"application/json", `{"nmae":"Ada"}`, "invalid_request", 400},
		"wrong type":   {"application/json", `{"name":1}`, "invalid_request", 400},
		"two values":   {"application/json", `{"name":"Ada"} {}`, "invalid_request", 400},
		"cut":          {"application/json", `{"name":"Ad`, "invalid_request", 400},
		"nothing":      {"application/json", ``, "invalid_request", 400},
		"large":        {"application/json", `{"name":"` + strings.Repeat("a", MaxBody) + `"}`, "body_too_large", 413},
		"large tail":   {"application/json", `{"name":"Ada"}` + strings.Repeat(" ", MaxBody), "body_too_large", 413},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(WithRequestID(t.Context(), "req_1"), "POST", "/x", strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			w := httptest.NewRecorder()
			var into struct{ Name string }
			if ok := Read(w, r, &into); ok != (c.status == http.StatusOK) || ok && into.Name != "Ada" {
				t.Fatalf("read %v: %+v", ok, into)
			}
			if c.code == "" {
				return
			}
			var e struct{ Error Problem }
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			if w.Code != c.status || e.Error.Code != c.code || e.Error.RequestID != "req_1" ||
				strings.Contains(w.Body.String(), "Ada") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}
