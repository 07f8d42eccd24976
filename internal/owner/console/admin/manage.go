// Package admin serves the pages on which an owner manages: records, what is missing, bookmarks,
// connections to add, schedules, grants and consent, devices, and settings.
//
// A page queries api.Owner and shows the result. Every form posts without script, keeps what was
// typed except secrets, and shows errors beside the field. Names from manifests and content of
// records are text, never markup.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// Config is what the pages need. All members must be set.
type Config struct {
	Owner api.Owner
	// Now returns the time in the zone that pages show.
	Now func() time.Time
	Log *slog.Logger
	// Fresh reports whether the requester has recently proved to be the owner.
	Fresh func(ctx context.Context) bool
	// Confirmed admits such requesters to next, and asks all others to confirm their identity.
	Confirmed func(next http.Handler) http.Handler
	// PasskeysAt reports whether a passkey can be used at the address of a request.
	PasskeysAt func(r *http.Request) bool
	// Base is the address of this server, as configured or as it listens. It never comes from a
	// request.
	Base string
}

type adminPages struct {
	Config
	*ui.Responder
}

// Routes returns the routes. All of them require a signed-in owner.
func Routes(c Config) []ui.Route {
	p := &adminPages{c, ui.NewResponder(c.Owner, c.Now, c.Log)}
	var all []ui.Route
	for _, r := range []struct {
		pattern string
		handle  http.HandlerFunc
	}{
		{"GET /sources/{id}/missing", p.missing},
		{"GET /sources/{id}/missing/{gap}", p.missingItem},
		{"POST /sources/{id}/missing/{gap}/retry", p.retryMissing},
		{"POST /sources/{id}/missing/{gap}/ignore", p.ignoreMissing},
		{"GET /changed", p.changed},
		{"GET /sources/{id}/files", p.files},
		{"POST /sources/{id}/files", p.addFiles},
		{"GET /sources/{id}/files/given", p.sentFiles},
		{"POST /sources/{id}/files/uploads/{upload}/drop", p.dropUpload},
		{"GET /sources/{id}/files/{import}", p.receipt},
		{"POST /sources/{id}/files/{import}/undo", p.undoImport},
		{"GET /sources/{id}/bookmarks", p.bookmarks},
		{"GET /sources/{id}/bookmarks/rewind", p.previewRewind},
		{"POST /sources/{id}/bookmarks/rewind", p.rewind},
		{"GET /sources/add", p.catalogue},
		{"GET /sources/add/{connector}/about", p.aboutConnector},
		{"GET /sources/add/{connector}", p.addForm},
		{"POST /sources/add/{connector}", p.add},
		{"POST /sources/add/{connector}/files", p.addWithFiles},
		{"GET /settings/pace", p.schedules},
		{"POST /settings/pace/{connection}", p.setSchedule},
		{"GET /sharing", p.grants},
		{"GET /sharing/new", p.newGrant},
		{"GET " + ui.AssistantsAddress, p.assistants},
		{"POST /sharing", p.createGrant},
		{"GET /sharing/{id}", p.grant},
		{"POST /sharing/{id}/revoke", p.revokeGrant},
		{"GET /sharing/reads", p.audit},
		{"POST /sharing/reads/retention", p.setAuditRetention},
		{"GET /sharing/allow/{id}", p.consent},
		{"POST /sharing/allow/{id}/answer", p.decide},
		{"GET /settings/devices", p.devices},
		{"GET /settings/devices/{id}", p.device},
		{"POST /settings/devices/{id}/rename", p.renameDevice},
		{"POST /settings/devices/{id}/revoke", p.revokeDevice},
		{"POST /settings/devices/{id}/undo", p.undoDevice},
		{"GET /settings", p.settings},
		{"GET /settings/push.js", servePushScript},
		{"POST /settings/speed", p.setSpeed},
		{"POST /settings/push", p.addPush},
		{"POST /settings/push/test", p.testPush},
		{"POST /settings/push/{id}/remove", p.removePush},
		{"POST /settings/quiet", p.setQuiet},
		{"GET " + ui.StorageAddress, p.storage},
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
