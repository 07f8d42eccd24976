package ownerhttp_test

import (
	"context"
	"io"

	"pdpp/internal/ownerapi"
	"pdpp/internal/ownerview"
)

// fake is an owner that keeps what it was asked and gives what it was told to.
type fake struct {
	method string
	asked  []any // without the context
	give   []any // without the error
	err    error
	// written is what an export writes before it ends.
	written []byte
}

func (f *fake) take(method string, asked ...any) { f.method, f.asked = method, asked }

// given is the result at an index, or the zero value.
func given[T any](f *fake, i int) T {
	var none T
	if i < len(f.give) {
		return f.give[i].(T)
	}
	return none
}

var _ ownerapi.Owner = (*fake)(nil)

func (f *fake) Overview(_ context.Context) (ownerview.Overview, error) {
	f.take("Overview")
	return given[ownerview.Overview](f, 0), f.err
}

func (f *fake) Connection(_ context.Context, id string) (ownerapi.Detail, error) {
	f.take("Connection", id)
	return given[ownerapi.Detail](f, 0), f.err
}

func (f *fake) Why(_ context.Context, id string) (ownerview.Explanation, error) {
	f.take("Why", id)
	return given[ownerview.Explanation](f, 0), f.err
}

func (f *fake) Pace(_ context.Context, id string) (ownerapi.Pace, error) {
	f.take("Pace", id)
	return given[ownerapi.Pace](f, 0), f.err
}

func (f *fake) Missing(_ context.Context, id string) ([]ownerapi.Gap, error) {
	f.take("Missing", id)
	return given[[]ownerapi.Gap](f, 0), f.err
}

func (f *fake) Devices(_ context.Context) ([]ownerapi.Device, error) {
	f.take("Devices")
	return given[[]ownerapi.Device](f, 0), f.err
}

func (f *fake) Connectors(_ context.Context) ([]ownerapi.Connector, error) {
	f.take("Connectors")
	return given[[]ownerapi.Connector](f, 0), f.err
}

func (f *fake) Connect(_ context.Context, c ownerapi.Connect) (ownerapi.Detail, error) {
	f.take("Connect", c)
	return given[ownerapi.Detail](f, 0), f.err
}

func (f *fake) Rename(_ context.Context, id string, name string) error {
	f.take("Rename", id, name)
	return f.err
}

func (f *fake) SetCredential(_ context.Context, id string, fields map[string]string) error {
	f.take("SetCredential", id, fields)
	return f.err
}

func (f *fake) SetSchedule(_ context.Context, id string, s ownerapi.Schedule) error {
	f.take("SetSchedule", id, s)
	return f.err
}

func (f *fake) DeleteSchedule(_ context.Context, id string) error {
	f.take("DeleteSchedule", id)
	return f.err
}

func (f *fake) SetLimits(_ context.Context, id string, l ownerapi.Limits) error {
	f.take("SetLimits", id, l)
	return f.err
}

func (f *fake) SetSelection(_ context.Context, id string, s ownerapi.Selection) error {
	f.take("SetSelection", id, s)
	return f.err
}

func (f *fake) Collect(_ context.Context, connectionID string, s ownerapi.Selection) error {
	f.take("Collect", connectionID, s)
	return f.err
}

func (f *fake) Revoke(_ context.Context, id string) error {
	f.take("Revoke", id)
	return f.err
}

func (f *fake) Acknowledge(_ context.Context, id string, actionKind string) error {
	f.take("Acknowledge", id, actionKind)
	return f.err
}

func (f *fake) Run(_ context.Context, connectionID string) error {
	f.take("Run", connectionID)
	return f.err
}

func (f *fake) RunAnyway(_ context.Context, connectionID string) error {
	f.take("RunAnyway", connectionID)
	return f.err
}

func (f *fake) Runs(_ context.Context, connectionID string, limit int) ([]ownerapi.Run, error) {
	f.take("Runs", connectionID, limit)
	return given[[]ownerapi.Run](f, 0), f.err
}

func (f *fake) RunByID(_ context.Context, runID string) (ownerapi.Run, error) {
	f.take("RunByID", runID)
	return given[ownerapi.Run](f, 0), f.err
}

func (f *fake) Timeline(_ context.Context, runID string, after int64) ([]ownerapi.Event, error) {
	f.take("Timeline", runID, after)
	return given[[]ownerapi.Event](f, 0), f.err
}

func (f *fake) Cancel(_ context.Context, runID string) error {
	f.take("Cancel", runID)
	return f.err
}

func (f *fake) Question(_ context.Context, runID string) (ownerapi.Question, error) {
	f.take("Question", runID)
	return given[ownerapi.Question](f, 0), f.err
}

func (f *fake) Answer(_ context.Context, runID string, a ownerapi.Answer) error {
	f.take("Answer", runID, a)
	return f.err
}

func (f *fake) Streams(_ context.Context, connectionID string) ([]ownerapi.Stream, error) {
	f.take("Streams", connectionID)
	return given[[]ownerapi.Stream](f, 0), f.err
}

func (f *fake) Records(_ context.Context, q ownerapi.RecordQuery) (ownerapi.RecordPage, error) {
	f.take("Records", q)
	return given[ownerapi.RecordPage](f, 0), f.err
}

func (f *fake) Record(_ context.Context, connectionID string, stream string, key string) (ownerapi.Record, []ownerapi.Record, error) {
	f.take("Record", connectionID, stream, key)
	return given[ownerapi.Record](f, 0), given[[]ownerapi.Record](f, 1), f.err
}

func (f *fake) Search(_ context.Context, q ownerapi.SearchQuery) (ownerapi.RecordPage, error) {
	f.take("Search", q)
	return given[ownerapi.RecordPage](f, 0), f.err
}

func (f *fake) Export(_ context.Context, w io.Writer, q ownerapi.ExportQuery) error {
	f.take("Export", q)
	if _, err := w.Write(f.written); err != nil {
		return err
	}
	return f.err
}

func (f *fake) Grants(_ context.Context) ([]ownerapi.Grant, error) {
	f.take("Grants")
	return given[[]ownerapi.Grant](f, 0), f.err
}

func (f *fake) Grant(_ context.Context, id string) (ownerapi.Grant, error) {
	f.take("Grant", id)
	return given[ownerapi.Grant](f, 0), f.err
}

func (f *fake) CreateGrant(_ context.Context, g ownerapi.NewGrant) (ownerapi.Grant, string, error) {
	f.take("CreateGrant", g)
	return given[ownerapi.Grant](f, 0), given[string](f, 1), f.err
}

func (f *fake) RevokeGrant(_ context.Context, id string) error {
	f.take("RevokeGrant", id)
	return f.err
}

func (f *fake) GrantRequest(_ context.Context, id string) (ownerapi.GrantRequest, error) {
	f.take("GrantRequest", id)
	return given[ownerapi.GrantRequest](f, 0), f.err
}

func (f *fake) Decide(_ context.Context, id string, d ownerapi.Decision) (string, error) {
	f.take("Decide", id, d)
	return given[string](f, 0), f.err
}

func (f *fake) Tokens(_ context.Context) ([]ownerapi.Token, error) {
	f.take("Tokens")
	return given[[]ownerapi.Token](f, 0), f.err
}

func (f *fake) CreateToken(_ context.Context, t ownerapi.NewToken) (ownerapi.Token, string, error) {
	f.take("CreateToken", t)
	return given[ownerapi.Token](f, 0), given[string](f, 1), f.err
}

func (f *fake) Sessions(_ context.Context) ([]ownerapi.Session, error) {
	f.take("Sessions")
	return given[[]ownerapi.Session](f, 0), f.err
}

func (f *fake) EndSession(_ context.Context, id string) error {
	f.take("EndSession", id)
	return f.err
}

func (f *fake) EndSessions(_ context.Context) error {
	f.take("EndSessions")
	return f.err
}

func (f *fake) Passkeys(_ context.Context) ([]ownerapi.Passkey, error) {
	f.take("Passkeys")
	return given[[]ownerapi.Passkey](f, 0), f.err
}

func (f *fake) RemovePasskey(_ context.Context, id string) error {
	f.take("RemovePasskey", id)
	return f.err
}

func (f *fake) RecoveryCodes(_ context.Context) (ownerapi.RecoveryCodes, error) {
	f.take("RecoveryCodes")
	return given[ownerapi.RecoveryCodes](f, 0), f.err
}

func (f *fake) MakeRecoveryCodes(_ context.Context) ([]string, error) {
	f.take("MakeRecoveryCodes")
	return given[[]string](f, 0), f.err
}

func (f *fake) SetPassword(_ context.Context, p ownerapi.NewPassword) error {
	f.take("SetPassword", p)
	return f.err
}

func (f *fake) RevokeToken(_ context.Context, id string) error {
	f.take("RevokeToken", id)
	return f.err
}

func (f *fake) PushTargets(_ context.Context) ([]ownerapi.PushTarget, error) {
	f.take("PushTargets")
	return given[[]ownerapi.PushTarget](f, 0), f.err
}

func (f *fake) AddPushTarget(_ context.Context, t ownerapi.NewPushTarget) (ownerapi.PushTarget, error) {
	f.take("AddPushTarget", t)
	return given[ownerapi.PushTarget](f, 0), f.err
}

func (f *fake) DeletePushTarget(_ context.Context, id string) error {
	f.take("DeletePushTarget", id)
	return f.err
}

func (f *fake) TestPush(_ context.Context) error {
	f.take("TestPush")
	return f.err
}

func (f *fake) Audit(_ context.Context, q ownerapi.AuditQuery) (ownerapi.AuditPage, error) {
	f.take("Audit", q)
	return given[ownerapi.AuditPage](f, 0), f.err
}

func (f *fake) SetAuditRetention(_ context.Context, days int) error {
	f.take("SetAuditRetention", days)
	return f.err
}

func (f *fake) QuietHours(_ context.Context) (string, error) {
	f.take("QuietHours")
	return given[string](f, 0), f.err
}

func (f *fake) SetQuietHours(_ context.Context, window string) error {
	f.take("SetQuietHours", window)
	return f.err
}

func (f *fake) Runtime(_ context.Context) (ownerapi.Runtime, error) {
	f.take("Runtime")
	return given[ownerapi.Runtime](f, 0), f.err
}
