package routes_test

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/view"
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

var _ api.Owner = (*fake)(nil)

func (f *fake) Overview(_ context.Context) (view.Overview, error) {
	f.take("Overview")
	return given[view.Overview](f, 0), f.err
}

func (f *fake) Connection(_ context.Context, id string) (api.Detail, error) {
	f.take("Connection", id)
	return given[api.Detail](f, 0), f.err
}

func (f *fake) Why(_ context.Context, id string) (view.Explanation, error) {
	f.take("Why", id)
	return given[view.Explanation](f, 0), f.err
}

func (f *fake) Attention(_ context.Context, q api.AttentionQuery) (api.Attention, error) {
	f.take("Attention", q)
	return given[api.Attention](f, 0), f.err
}

func (f *fake) Work(_ context.Context) (api.Work, error) {
	f.take("Work")
	return given[api.Work](f, 0), f.err
}

func (f *fake) RemoveCredential(_ context.Context, id string) error {
	f.take("RemoveCredential", id)
	return f.err
}

func (f *fake) Stop(_ context.Context, id string) (api.Stopped, error) {
	f.take("Stop", id)
	return given[api.Stopped](f, 0), f.err
}

func (f *fake) RunRecovery(_ context.Context, id string, anyway bool) error {
	f.take("RunRecovery", id, anyway)
	return f.err
}

func (f *fake) Pace(_ context.Context, id string, runs int) (api.Pace, error) {
	f.take("Pace", id, runs)
	return given[api.Pace](f, 0), f.err
}

func (f *fake) Schedules(_ context.Context) ([]api.ConnectionSchedule, error) {
	f.take("Schedules")
	return given[[]api.ConnectionSchedule](f, 0), f.err
}

func (f *fake) Gaps(_ context.Context, q api.GapQuery) (api.GapPage, error) {
	f.take("Gaps", q)
	return given[api.GapPage](f, 0), f.err
}

func (f *fake) Gap(_ context.Context, id string) (api.Gap, error) {
	f.take("Gap", id)
	return given[api.Gap](f, 0), f.err
}

func (f *fake) RetryGap(_ context.Context, id string) (api.Gap, error) {
	f.take("RetryGap", id)
	return given[api.Gap](f, 0), f.err
}

func (f *fake) IgnoreGap(_ context.Context, id, why string) (api.Gap, error) {
	f.take("IgnoreGap", id, why)
	return given[api.Gap](f, 0), f.err
}

func (f *fake) Bookmarks(_ context.Context, id string) ([]api.Bookmark, error) {
	f.take("Bookmarks", id)
	return given[[]api.Bookmark](f, 0), f.err
}

func (f *fake) BookmarkLog(_ context.Context, q api.BookmarkQuery) ([]api.BookmarkCommit, error) {
	f.take("BookmarkLog", q)
	return given[[]api.BookmarkCommit](f, 0), f.err
}

func (f *fake) PreviewRewind(_ context.Context, r api.Rewind) (api.RewindPreview, error) {
	f.take("PreviewRewind", r)
	return given[api.RewindPreview](f, 0), f.err
}

func (f *fake) Rewind(_ context.Context, r api.Rewind) (api.BookmarkCommit, error) {
	f.take("Rewind", r)
	return given[api.BookmarkCommit](f, 0), f.err
}

func (f *fake) Devices(_ context.Context) ([]api.Device, error) {
	f.take("Devices")
	return given[[]api.Device](f, 0), f.err
}

func (f *fake) RenameDevice(_ context.Context, id, name string) error {
	f.take("RenameDevice", id, name)
	return f.err
}

func (f *fake) RevokeDevice(_ context.Context, id string) error {
	f.take("RevokeDevice", id)
	return f.err
}

func (f *fake) UndoDevice(_ context.Context, id string, since time.Time) (api.DeviceUndone, error) {
	f.take("UndoDevice", id, since)
	return given[api.DeviceUndone](f, 0), f.err
}

func (f *fake) Import(_ context.Context, id string, file api.ImportFile) (api.Import, error) {
	content, err := io.ReadAll(file.Content)
	if err != nil {
		return api.Import{}, err
	}
	file.Content = strings.NewReader(string(content))
	f.take("Import", id, file)
	return given[api.Import](f, 0), f.err
}

func (f *fake) BeginUpload(_ context.Context, id string, n api.NewUpload) (api.Upload, error) {
	f.take("BeginUpload", id, n)
	return given[api.Upload](f, 0), f.err
}

func (f *fake) Uploads(_ context.Context, id string) ([]api.Upload, error) {
	f.take("Uploads", id)
	return given[[]api.Upload](f, 0), f.err
}

func (f *fake) UploadByID(_ context.Context, id, upload string) (api.Upload, error) {
	f.take("UploadByID", id, upload)
	return given[api.Upload](f, 0), f.err
}

func (f *fake) AddPiece(_ context.Context, id, upload string, p api.Piece) (api.Upload, error) {
	content, err := io.ReadAll(p.Content)
	if err != nil {
		return api.Upload{}, err
	}
	p.Content = strings.NewReader(string(content))
	f.take("AddPiece", id, upload, p)
	return given[api.Upload](f, 0), f.err
}

func (f *fake) DropUpload(_ context.Context, id, upload string) error {
	f.take("DropUpload", id, upload)
	return f.err
}

func (f *fake) Imports(_ context.Context, id string) ([]api.Import, error) {
	f.take("Imports", id)
	return given[[]api.Import](f, 0), f.err
}

func (f *fake) ImportByID(_ context.Context, id string) (api.Import, error) {
	f.take("ImportByID", id)
	return given[api.Import](f, 0), f.err
}

func (f *fake) UndoImport(_ context.Context, id string) (api.Import, error) {
	f.take("UndoImport", id)
	return given[api.Import](f, 0), f.err
}

func (f *fake) DeviceDiagnostics(_ context.Context) ([]api.DeviceDiagnosis, error) {
	f.take("DeviceDiagnostics")
	return given[[]api.DeviceDiagnosis](f, 0), f.err
}

func (f *fake) AddDevice(_ context.Context, n api.NewDevice) (api.DeviceCode, error) {
	f.take("AddDevice", n)
	return given[api.DeviceCode](f, 0), f.err
}

func (f *fake) DeviceCodes(_ context.Context) ([]api.DeviceCode, error) {
	f.take("DeviceCodes")
	return given[[]api.DeviceCode](f, 0), f.err
}

func (f *fake) CancelDeviceCode(_ context.Context, id string) error {
	f.take("CancelDeviceCode", id)
	return f.err
}

func (f *fake) Connectors(_ context.Context) ([]api.Connector, error) {
	f.take("Connectors")
	return given[[]api.Connector](f, 0), f.err
}

func (f *fake) Connect(_ context.Context, c api.Connect) (api.Detail, error) {
	f.take("Connect", c)
	return given[api.Detail](f, 0), f.err
}

func (f *fake) Rename(_ context.Context, id string, name string) error {
	f.take("Rename", id, name)
	return f.err
}

func (f *fake) SetCredential(_ context.Context, id string, fields map[string]string) error {
	f.take("SetCredential", id, fields)
	return f.err
}

func (f *fake) SetSchedule(_ context.Context, id string, s api.Schedule) error {
	f.take("SetSchedule", id, s)
	return f.err
}

func (f *fake) DeleteSchedule(_ context.Context, id string) error {
	f.take("DeleteSchedule", id)
	return f.err
}

func (f *fake) BeginSignIn(_ context.Context, id string, w api.SignInWish) (api.SignInBegun, error) {
	f.take("BeginSignIn", id, w)
	return given[api.SignInBegun](f, 0), f.err
}

func (f *fake) FinishSignIn(_ context.Context, a api.SignInAnswer) (api.SignInDone, error) {
	f.take("FinishSignIn", a)
	return given[api.SignInDone](f, 0), f.err
}

func (f *fake) SetProviderApp(_ context.Context, connectorID string, app api.ProviderApp) error {
	f.take("SetProviderApp", connectorID, app)
	return f.err
}

func (f *fake) SetLimits(_ context.Context, id string, l api.Limits) error {
	f.take("SetLimits", id, l)
	return f.err
}

func (f *fake) SetSelection(_ context.Context, id string, s api.Selection) error {
	f.take("SetSelection", id, s)
	return f.err
}

func (f *fake) Collect(_ context.Context, connectionID string, s api.Selection) error {
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

func (f *fake) Runs(_ context.Context, q api.RunQuery) ([]api.Run, error) {
	f.take("Runs", q)
	return given[[]api.Run](f, 0), f.err
}

func (f *fake) RunByID(_ context.Context, runID string) (api.Run, error) {
	f.take("RunByID", runID)
	return given[api.Run](f, 0), f.err
}

func (f *fake) Timeline(_ context.Context, runID string, after int64) ([]api.Event, error) {
	f.take("Timeline", runID, after)
	return given[[]api.Event](f, 0), f.err
}

func (f *fake) Cancel(_ context.Context, runID string) error {
	f.take("Cancel", runID)
	return f.err
}

func (f *fake) Question(_ context.Context, runID string) (api.Question, error) {
	f.take("Question", runID)
	return given[api.Question](f, 0), f.err
}

func (f *fake) Answer(_ context.Context, runID string, a api.Answer) error {
	f.take("Answer", runID, a)
	return f.err
}

func (f *fake) Streams(_ context.Context, connectionID string) ([]api.Stream, error) {
	f.take("Streams", connectionID)
	return given[[]api.Stream](f, 0), f.err
}

func (f *fake) Records(_ context.Context, q api.RecordQuery) (api.RecordPage, error) {
	f.take("Records", q)
	return given[api.RecordPage](f, 0), f.err
}

func (f *fake) Record(_ context.Context, connectionID string, stream string, key string) (api.Record, []api.Record, error) {
	f.take("Record", connectionID, stream, key)
	return given[api.Record](f, 0), given[[]api.Record](f, 1), f.err
}

func (f *fake) Changes(_ context.Context, q api.ChangeQuery) ([]api.Record, error) {
	f.take("Changes", q)
	return given[[]api.Record](f, 0), f.err
}

func (f *fake) Search(_ context.Context, q api.SearchQuery) (api.RecordPage, error) {
	f.take("Search", q)
	return given[api.RecordPage](f, 0), f.err
}

func (f *fake) Aggregate(_ context.Context, q api.AggregateQuery) (api.Aggregation, error) {
	f.take("Aggregate", q)
	return given[api.Aggregation](f, 0), f.err
}

func (f *fake) Kept(context.Context) (api.Kept, error) {
	f.take("Kept")
	return given[api.Kept](f, 0), f.err
}

func (f *fake) Storage(context.Context) (api.Storage, error) {
	f.take("Storage")
	return given[api.Storage](f, 0), f.err
}

func (f *fake) Days(_ context.Context, q api.DayQuery) ([]api.DayCount, error) {
	f.take("Days", q)
	return given[[]api.DayCount](f, 0), f.err
}

func (f *fake) Export(_ context.Context, w io.Writer, q api.ExportQuery) error {
	f.take("Export", q)
	if _, err := w.Write(f.written); err != nil {
		return err
	}
	return f.err
}

func (f *fake) CopyFile(_ context.Context, w io.Writer, sha256 string) error {
	f.take("CopyFile", sha256)
	if _, err := w.Write(f.written); err != nil {
		return err
	}
	return f.err
}

func (f *fake) Grants(_ context.Context) ([]api.Grant, error) {
	f.take("Grants")
	return given[[]api.Grant](f, 0), f.err
}

func (f *fake) Grant(_ context.Context, id string) (api.Grant, error) {
	f.take("Grant", id)
	return given[api.Grant](f, 0), f.err
}

func (f *fake) CreateGrant(_ context.Context, g api.NewGrant) (api.Grant, string, error) {
	f.take("CreateGrant", g)
	return given[api.Grant](f, 0), given[string](f, 1), f.err
}

func (f *fake) RevokeGrant(_ context.Context, id string) error {
	f.take("RevokeGrant", id)
	return f.err
}

func (f *fake) GrantRequest(_ context.Context, id string) (api.GrantRequest, error) {
	f.take("GrantRequest", id)
	return given[api.GrantRequest](f, 0), f.err
}

func (f *fake) Decide(_ context.Context, id string, d api.Decision) (string, error) {
	f.take("Decide", id, d)
	return given[string](f, 0), f.err
}

func (f *fake) Tokens(_ context.Context) ([]api.Token, error) {
	f.take("Tokens")
	return given[[]api.Token](f, 0), f.err
}

func (f *fake) CreateToken(_ context.Context, t api.NewToken) (api.Token, string, error) {
	f.take("CreateToken", t)
	return given[api.Token](f, 0), given[string](f, 1), f.err
}

func (f *fake) Sessions(_ context.Context) ([]api.Session, error) {
	f.take("Sessions")
	return given[[]api.Session](f, 0), f.err
}

func (f *fake) EndSession(_ context.Context, id string) error {
	f.take("EndSession", id)
	return f.err
}

func (f *fake) EndSessions(_ context.Context) error {
	f.take("EndSessions")
	return f.err
}

func (f *fake) Passkeys(_ context.Context) ([]api.Passkey, error) {
	f.take("Passkeys")
	return given[[]api.Passkey](f, 0), f.err
}

func (f *fake) RemovePasskey(_ context.Context, id string) error {
	f.take("RemovePasskey", id)
	return f.err
}

func (f *fake) RecoveryCodes(_ context.Context) (api.RecoveryCodes, error) {
	f.take("RecoveryCodes")
	return given[api.RecoveryCodes](f, 0), f.err
}

func (f *fake) MakeRecoveryCodes(_ context.Context) ([]string, error) {
	f.take("MakeRecoveryCodes")
	return given[[]string](f, 0), f.err
}

func (f *fake) SetPassword(_ context.Context, p api.NewPassword) error {
	f.take("SetPassword", p)
	return f.err
}

func (f *fake) RevokeToken(_ context.Context, id string) error {
	f.take("RevokeToken", id)
	return f.err
}

func (f *fake) SavedSearches(_ context.Context) ([]api.SavedSearch, error) {
	f.take("SavedSearches")
	return given[[]api.SavedSearch](f, 0), f.err
}

func (f *fake) SaveSearch(_ context.Context, s api.NewSearch) (api.SavedSearch, error) {
	f.take("SaveSearch", s)
	return given[api.SavedSearch](f, 0), f.err
}

func (f *fake) RenameSearch(_ context.Context, id, name string) error {
	f.take("RenameSearch", id, name)
	return f.err
}

func (f *fake) DeleteSearch(_ context.Context, id string) error {
	f.take("DeleteSearch", id)
	return f.err
}

func (f *fake) PushTargets(_ context.Context) ([]api.PushTarget, error) {
	f.take("PushTargets")
	return given[[]api.PushTarget](f, 0), f.err
}

func (f *fake) AddPushTarget(_ context.Context, t api.NewPushTarget) (api.PushTarget, error) {
	f.take("AddPushTarget", t)
	return given[api.PushTarget](f, 0), f.err
}

func (f *fake) DeletePushTarget(_ context.Context, id string) error {
	f.take("DeletePushTarget", id)
	return f.err
}

func (f *fake) TestPush(_ context.Context, target string) ([]api.PushTest, error) {
	f.take("TestPush", target)
	return given[[]api.PushTest](f, 0), f.err
}

func (f *fake) Audit(_ context.Context, q api.AuditQuery) (api.AuditPage, error) {
	f.take("Audit", q)
	return given[api.AuditPage](f, 0), f.err
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

func (f *fake) Runtime(_ context.Context) (api.Runtime, error) {
	f.take("Runtime")
	return given[api.Runtime](f, 0), f.err
}

func (f *fake) PreviewDeletion(_ context.Context, r api.DeletionRequest) (api.Deletion, error) {
	f.take("PreviewDeletion", r)
	return given[api.Deletion](f, 0), f.err
}

func (f *fake) Delete(_ context.Context, r api.DeletionRequest) (api.Deletion, error) {
	f.take("Delete", r)
	return given[api.Deletion](f, 0), f.err
}

func (f *fake) DeletionByID(_ context.Context, id string) (api.Deletion, error) {
	f.take("DeletionByID", id)
	return given[api.Deletion](f, 0), f.err
}

func (f *fake) UndoDeletion(_ context.Context, id string) (api.Deletion, error) {
	f.take("UndoDeletion", id)
	return given[api.Deletion](f, 0), f.err
}

func (f *fake) PurgeDeletion(_ context.Context, id string) (api.Deletion, error) {
	f.take("PurgeDeletion", id)
	return given[api.Deletion](f, 0), f.err
}

func (f *fake) CollectDeleted(_ context.Context, id string) (api.Deletion, error) {
	f.take("CollectDeleted", id)
	return given[api.Deletion](f, 0), f.err
}

func (f *fake) Deletions(_ context.Context) ([]api.Deletion, error) {
	f.take("Deletions")
	return given[[]api.Deletion](f, 0), f.err
}

func (f *fake) EndedConnections(_ context.Context) ([]api.EndedConnection, error) {
	f.take("EndedConnections")
	return given[[]api.EndedConnection](f, 0), f.err
}
