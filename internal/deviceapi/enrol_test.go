package deviceapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/tokenqueue"
)

func TestEnrolment(t *testing.T) {
	b := newBed(t)
	code := b.code("home", "")
	first := b.enrol(code, "")
	if !strings.HasPrefix(first.DeviceToken, "ldt_") || len(first.DeviceToken) != 47 ||
		first.Object != "device_exporter_enrollment" || first.ConnectorID != "notes" ||
		first.LocalBindingName != "home" || first.ConnectorInstanceID != "cin_notes_1" ||
		!strings.HasPrefix(first.DeviceID, "dexp_") || !strings.HasPrefix(first.SourceInstanceID, "dsrc_") {
		t.Errorf("enrolled %+v", first)
	}
	// Another address tries the code before the device has used its token.
	b.wants(b.sendFrom("203.0.113.7:9", "/enroll", "", wire.Enrollment{Code: code}), http.StatusBadRequest,
		wire.CodeEnrollmentUsed)
	// The answer was lost: the same ids, another token, the first one dead.
	again := b.enrol(code, "")
	if again.DeviceToken == first.DeviceToken || again.DeviceID != first.DeviceID ||
		again.SourceInstanceID != first.SourceInstanceID {
		t.Errorf("a second time %+v", again)
	}
	rotate := "/" + first.DeviceID + "/token"
	b.wants(b.post(rotate, first.DeviceToken, nil), http.StatusUnauthorized, wire.CodeUnauthenticated)
	b.wants(b.post(rotate, again.DeviceToken, nil), http.StatusCreated, "") // the first call spends the code
	b.wants(b.post("/enroll", "", wire.Enrollment{Code: code}), http.StatusBadRequest, wire.CodeEnrollmentUsed)

	d, err := b.store.Device(t.Context(), first.DeviceID)
	if err != nil || d.DisplayName != "Studio desktop" || d.AgentVersion != "1.2" || d.ProtocolVersion != "1" ||
		d.LastAddress != "192.0.2.1" {
		t.Errorf("the device %+v, %v", d, err)
	}

	late := b.code("late", "")
	b.pass(15 * time.Minute)
	b.wants(b.post("/enroll", "", wire.Enrollment{Code: late}), http.StatusGone, wire.CodeEnrollmentExpired)
	b.wants(b.post("/enroll", "", wire.Enrollment{Code: "lde_none"}), http.StatusBadRequest, wire.CodeEnrollmentInvalid)
	b.wants(b.post("/enroll", "", "text"), http.StatusBadRequest, "invalid_request")
	b.wants(b.post("/enroll", "", wire.Enrollment{}, wire.ProtocolHeader, "2"), http.StatusConflict,
		wire.CodeProtocolMismatch)

	// The spelling of other collectors.
	got := b.post("/enroll", "", map[string]string{"enrollment_code": b.code("other", ""), "deviceLabel": " Kitchen\n",
		"unknown": "passed over"})
	b.wants(got, http.StatusCreated, "")
	devices, err := b.store.ListDevices(t.Context())
	if err != nil || devices[1].DisplayName != "Kitchen" {
		t.Errorf("devices %+v, %v", devices, err)
	}
	entries, err := b.store.AuditEntries(t.Context(), store.AuditQuery{Kinds: []string{"device_add"}})
	if err != nil || len(entries) != 3 || entries[2].Actor != "device" || entries[2].ActorName != "Studio desktop" {
		t.Errorf("the trail has %+v, %v", entries, err)
	}
}

func TestHostThatIsEnrolledAddsASource(t *testing.T) {
	b := newBed(t)
	first := b.enrol(b.code("home", ""), "")
	code := b.code("work", "")
	second := b.enrol(code, first.DeviceToken)
	if second.DeviceID != first.DeviceID || second.DeviceToken != "" || second.SourceInstanceID == first.SourceInstanceID {
		t.Errorf("joined as %+v", second)
	}
	if again := b.enrol(code, first.DeviceToken); again.SourceInstanceID != second.SourceInstanceID ||
		again.DeviceToken != "" {
		t.Errorf("a second time %+v", again)
	}
	b.wants(b.post("/enroll", "", wire.Enrollment{Code: code}), http.StatusBadRequest, wire.CodeEnrollmentUsed)
	unused := b.code("garden", "")
	b.wants(b.post("/enroll", strings.Replace(first.DeviceToken, "ldt_", "ldt-", 1), wire.Enrollment{Code: unused}),
		http.StatusUnauthorized, wire.CodeUnauthenticated)
	b.enrol(unused, "") // nothing was consumed
}

func TestUsesAtOnceGiveOneToken(t *testing.T) {
	b := newBed(t)
	code := b.code("home", "")
	var together sync.WaitGroup
	tokens := make([]wire.Enrolled, 10)
	for i := range tokens {
		together.Go(func() { tokens[i] = b.enrol(code, "") })
	}
	together.Wait()
	good := 0
	for _, e := range tokens {
		if e.DeviceID != tokens[0].DeviceID {
			t.Error("more than one device")
		}
		hash := digestOf(e.DeviceToken)
		if c, err := b.store.DeviceCredential(t.Context(), hash); err != nil || c.Status == store.DeviceActive {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d tokens are good", good)
	}
}

func TestScopeIsNarrowedOnly(t *testing.T) {
	b := newBed(t)
	march := noon.Format(time.RFC3339)
	within := `{"since":"` + march + `","source_roots":["/home/ann/notes","C:\\Users\\Ann"]}`
	for _, step := range []struct {
		owners, asked string
		status        int
		kept          string
	}{
		{``, ``, 201, ``},
		{within, ``, 201, within},
		{within, `{}`, 201, within},
		{``, `{"source_roots":["/a/../b"]}`, 201, `{"source_roots":["/a/../b"]}`},
		{within, `{"source_roots":["/home/ann/notes/work"]}`, 201, `{"since":"` + march +
			`","source_roots":["/home/ann/notes/work"]}`},
		{within, `{"source_roots":["c:/users/ann/Documents"]}`, 201, `{"since":"` + march +
			`","source_roots":["c:/users/ann/Documents"]}`},
		{within, `{"since":"2026-04-01T00:00:00Z"}`, 201,
			`{"since":"2026-04-01T00:00:00Z","source_roots":["/home/ann/notes","C:\\Users\\Ann"]}`},
		{within, `{"since":"2026-02-01T00:00:00Z"}`, 400, ``},
		{within, `{"source_roots":["/home/ann/notes-old"]}`, 400, ``},
		{within, `{"source_roots":["/home/ann/notes/../mail"]}`, 400, ``},
		{within, `{"source_roots":["/home/ann/notes","/"]}`, 400, ``},
		{within, `{"source_roots":["home/ann/notes"]}`, 400, ``},
		{`{"source_roots":["~/notes"]}`, `{"source_roots":["~/notes/../.."]}`, 400, ``},
		{`{"source_roots":["/"]}`, `{"source_roots":["/etc"]}`, 201, `{"source_roots":["/etc"]}`},
		{``, `{"source_roots":["~/../x"]}`, 400, ``},
	} {
		code := b.code(fmt.Sprint("binding", b.codes), step.owners)
		body := map[string]any{"enrollment_code": code}
		if step.asked != "" {
			body["collection_scope"] = json.RawMessage(step.asked)
		}
		got := b.post("/enroll", "", body)
		if step.status == 400 {
			b.wants(got, 400, wire.CodeScopeTooWide)
			b.enrol(code, "") // nothing was consumed
			continue
		}
		b.wants(got, 201, "")
		var e wire.Enrolled
		if err := json.Unmarshal([]byte(got.body), &e); err != nil {
			t.Fatal(err)
		}
		src, err := b.store.DeviceSource(t.Context(), e.SourceInstanceID)
		if err != nil || string(src.Scope) != step.kept || scopeOf(t, e) != step.kept {
			t.Errorf("%s within %s: keeps %s, says %s, %v", step.asked, step.owners, src.Scope, scopeOf(t, e), err)
		}
	}
}

// scopeOf returns the collection scope of an enrolment answer.
func scopeOf(t *testing.T, e wire.Enrolled) string {
	t.Helper()
	if e.CollectionScope == nil {
		return ""
	}
	content, err := json.Marshal(e.CollectionScope)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Strangers keep no device out, not even after a restart, when no token is known: wrong tokens and codes
// from other addresses do not count for others. The restart is another mount over the same store.
func TestStrangersKeepNoDeviceOut(t *testing.T) {
	b := newBed(t)
	good := b.enrol(b.code("home", ""), "")
	code := b.code("work", "")
	b.config.Strangers = tokenqueue.NewQueue()
	b.mount()
	for i := range 200 {
		from := fmt.Sprintf("198.51.100.%d:9", i)
		b.wants(b.sendFrom(from, "/"+good.DeviceID+"/token", "ldt_"+strings.Repeat("a", 43), nil), http.StatusUnauthorized,
			wire.CodeUnauthenticated)
		b.wants(b.sendFrom(from, "/enroll", "", wire.Enrollment{Code: "lde_guess"}), http.StatusBadRequest,
			wire.CodeEnrollmentInvalid)
	}
	b.wants(b.sendFrom("203.0.113.7:9", "/"+good.DeviceID+"/token", good.DeviceToken, nil), http.StatusCreated, "")
	b.enrol(code, "")
}

// Wrong codes of one address wait for longer and longer; a token goes on, also from there.
func TestGuessingIsSlowedDown(t *testing.T) {
	b := newBed(t)
	good := b.enrol(b.code("home", ""), "")
	rotate := "/" + good.DeviceID + "/token"
	b.wants(b.post(rotate, good.DeviceToken, nil), http.StatusCreated, "")
	for range 5 {
		b.wants(b.post("/enroll", "", wire.Enrollment{Code: "lde_guess"}), http.StatusBadRequest, wire.CodeEnrollmentInvalid)
	}
	refused := b.post("/enroll", "", wire.Enrollment{Code: b.code("work", "")})
	b.wants(refused, http.StatusTooManyRequests, "too_many_tries")
	if refused.retryAfter != "10" {
		t.Errorf("retry after %s", refused.retryAfter)
	}
	b.wants(b.post(rotate, good.DeviceToken, nil), http.StatusCreated, "")
	b.pass(10 * time.Second)
	b.enrol(b.code("garden", ""), "")
}
