// Package manage is the pages on which an owner manages: records, what is missing,
// bookmarks, connections to add, schedules, grants and consent, devices, and settings.
//
// A page asks api.Owner and shows what it gives. Every form posts without
// script, keeps what was typed except secrets, and says what went wrong beside the
// field. Names of manifests and content of records are text, never markup.
package manage

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Config is what the pages need. All members but Pictures must be set.
type Config struct {
	Owner api.Owner
	// Now gives the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
	// Fresh says whether whoever asks has shown lately that they are the owner.
	Fresh func(ctx context.Context) bool
	// Confirmed lets those through, and asks all others for it.
	Confirmed func(next http.Handler) http.Handler
	// PasskeysAt says whether a passkey can be used at the address of a request.
	PasskeysAt func(r *http.Request) bool
	// Base is where this server is, as it was configured or as it listens; never what a request
	// says of it.
	Base string
	// Pictures gives small pictures of files; nil means that icons stand for them.
	Pictures Pictures
}

type pages struct{ Config }

// Routes gives the addresses. All of them are for a signed-in owner alone.
func Routes(c Config) []ui.Route {
	p := &pages{c}
	var all []ui.Route
	for _, r := range []struct {
		pattern string
		handle  http.HandlerFunc
	}{
		{"GET /records", p.records},
		{"GET " + streamsAddress, p.records},
		{"GET /records/{connection}/{stream}/{key}", p.records},
		{"GET /records/{connection}/{stream}/{key}/files/{sha256}", p.file},
		{"GET /records/{connection}/{stream}/{key}/files/{sha256}/thumbnail", p.thumbnail},
		{"GET /records/export", p.export},
		{"GET " + ui.SearchesAddress, p.searches},
		{"POST " + ui.SearchesAddress, p.saveSearch},
		{"GET " + ui.SearchesAddress + "/{id}", p.openSearch},
		{"POST " + ui.SearchesAddress + "/{id}/rename", p.renameSearch},
		{"POST " + ui.SearchesAddress + "/{id}/delete", p.deleteSearch},
		{"GET /connections/{id}/gaps", p.missing},
		{"GET /connections/{id}/gaps/{gap}", p.missingItem},
		{"POST /connections/{id}/gaps/{gap}/retry", p.retryMissing},
		{"POST /connections/{id}/gaps/{gap}/ignore", p.ignoreMissing},
		{"GET /connections/{id}/changes", p.changed},
		{"GET /connections/{id}/files", p.files},
		{"POST /connections/{id}/files", p.addFiles},
		{"GET /connections/{id}/files/given", p.sentFiles},
		{"POST /connections/{id}/files/uploads/{upload}/drop", p.dropUpload},
		{"GET /connections/{id}/files/{import}", p.receipt},
		{"POST /connections/{id}/files/{import}/undo", p.undoImport},
		{"GET /connections/{id}/bookmarks", p.bookmarks},
		{"GET /connections/{id}/bookmarks/rewind", p.previewRewind},
		{"POST /connections/{id}/bookmarks/rewind", p.rewind},
		{"GET /add", p.catalogue},
		{"GET /add/{connector}/about", p.aboutConnector},
		{"GET /add/{connector}", p.addForm},
		{"POST /add/{connector}", p.add},
		{"POST /add/{connector}/files", p.addWithFiles},
		{"GET /schedules", p.schedules},
		{"POST /schedules/{connection}", p.setSchedule},
		{"GET /grants", p.grants},
		{"GET /grants/new", p.newGrant},
		{"POST /grants", p.createGrant},
		{"GET /grants/{id}", p.grant},
		{"POST /grants/{id}/revoke", p.revokeGrant},
		{"GET /audit", p.audit},
		{"POST /audit/retention", p.setAuditRetention},
		{"GET /consent/{id}", p.consent},
		{"POST /consent/{id}", p.decide},
		{"GET /devices", p.devices},
		{"GET /devices/{id}", p.device},
		{"POST /devices/{id}/rename", p.renameDevice},
		{"POST /devices/{id}/revoke", p.revokeDevice},
		{"POST /devices/{id}/undo", p.undoDevice},
		{"GET /settings", p.settings},
		{"GET /settings/push.js", servePushScript},
		{"POST /settings/speed", p.setSpeed},
		{"POST /settings/push", p.addPush},
		{"POST /settings/push/test", p.testPush},
		{"POST /settings/push/{id}/remove", p.removePush},
		{"POST /settings/quiet", p.setQuiet},
		{"GET " + storageAddress, p.storage},
		{"GET " + ui.DeletionsAddress, p.deletions},
		{"GET " + ui.DeletionsAddress + "/new", p.newDeletion},
		{"POST " + ui.DeletionsAddress, p.delete},
		{"GET " + ui.DeletionsAddress + "/{id}", p.deletion},
		{"POST " + ui.DeletionsAddress + "/{id}/undo", p.undoDeletion},
		{"POST " + ui.DeletionsAddress + "/{id}/collect", p.collectDeleted},
		{"GET " + signInAddress, p.signIn},
		{"POST /settings/sessions/{id}/end", p.endSession},
		{"POST /settings/sessions/end", p.endSessions},
		{"POST /settings/passkeys/{id}/remove", p.removePasskey},
		{"POST /settings/tokens/{id}/revoke", p.revokeToken},
	} {
		all = append(all, ui.Route{Pattern: r.pattern, Handler: r.handle})
	}
	// What adds a way in, and what cannot be undone.
	for pattern, handle := range map[string]http.HandlerFunc{
		"POST /settings/tokens": p.createToken, "POST /settings/recovery-codes": p.makeCodes,
		"GET /settings/password": p.password, "POST /settings/password": p.changePassword,
		"POST " + ui.DeletionsAddress + "/{id}/purge": p.purgeDeletion,
	} {
		all = append(all, ui.Route{Pattern: pattern, Handler: handle, Confirm: true})
	}
	return all
}

// frame surrounds a page of the active part.
func (p *pages) frame(w http.ResponseWriter, r *http.Request, title, active string) ui.Frame {
	f := ui.Frame{Title: title, Active: active, Now: p.Now(), Flash: ui.TakeFlash(w, r)}
	runtime, err := p.Owner.Runtime(r.Context())
	p.note(r, err) // the page is worth showing without the word on the runtime
	f.Watched, f.Indicator = err == nil, runtime.Indicator
	return f
}

func (p *pages) show(w http.ResponseWriter, r *http.Request, status int, f ui.Frame, body templ.Component) {
	ui.Render(w, r, status, ui.Page(f, body))
}

// fail answers with what went wrong, and logs what is not the owner's matter.
func (p *pages) fail(w http.ResponseWriter, r *http.Request, active string, err error) {
	p.note(r, err)
	ui.Fail(w, r, ui.Frame{Active: active, Now: p.Now()}, err)
}

// note logs an error that no owner can fix. One who left is not an error.
func (p *pages) note(r *http.Request, err error) {
	var known *api.Error
	if err == nil || r.Context().Err() != nil || errors.As(err, &known) && known.Status < http.StatusInternalServerError {
		return
	}
	p.Log.ErrorContext(r.Context(), "a page failed", "route", r.Pattern, "error", err)
}

// problem is an error as a form shows it: what went wrong, the next step, and the
// field that it is about.
type problem struct {
	Param, Text string
	status      int
}

// about gives the words of the problem with a field.
func (p problem) about(param string) string {
	if p.Param == param {
		return p.Text
	}
	return ""
}

func (p *pages) problem(w http.ResponseWriter, r *http.Request, err error) problem {
	p.note(r, err)
	m, status := ui.Problem(w, err)
	out := problem{Text: m.Text, status: status}
	if m.Next != "" {
		out.Text += " " + m.Next
	}
	var known *api.Error
	if errors.As(err, &known) {
		out.Param = known.Param
	}
	return out
}

// wrong is a problem that the page itself found in a form.
func wrong(param, text string) problem {
	return problem{Param: param, Text: text, status: http.StatusBadRequest}
}

// form reads the fields of a form. When it cannot it answers, and gives false.
func (p *pages) form(w http.ResponseWriter, r *http.Request, active string) bool {
	r.Body = http.MaxBytesReader(w, r.Body, largestForm)
	err := r.ParseForm()
	if err == nil {
		return true
	}
	var large *http.MaxBytesError
	e := api.Invalid("", "This form could not be read.", "Go back and send it again.")
	if errors.As(err, &large) {
		e = api.Invalid("", "This form holds more than a page takes.", "Go back and send less.")
		e.Status = http.StatusRequestEntityTooLarge
	}
	p.fail(w, r, active, e)
	return false
}

const largestForm = 256 << 10

// segmentOf reads a segment of the address. When it was not made here it answers
// that there is no such page, and gives false.
func (p *pages) segmentOf(w http.ResponseWriter, r *http.Request, name, active string) (string, bool) {
	text, err := unsegment(r.PathValue(name))
	if err != nil {
		p.fail(w, r, active, api.NotFound("There is no such page.", "Follow a link from the list."))
		return "", false
	}
	return text, true
}
