// Package audited writes the actions of an owner to the audit log, regardless of the surface. It wraps the
// implementation of api.Owner on the machine that holds the data. Reads are not logged, except exports, because
// exported data leaves the server.
package audited

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/exportcount"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
)

// auditedOwner passes every method on and writes the audit entry of its row in the operation table. A method
// is written here when its entry needs more than the id in the route.
type auditedOwner struct {
	api.Proxy
	next  api.Owner
	trail *audit.Trail
}

// NewAuditedOwner returns an owner with an audit entry for each change.
func NewAuditedOwner(next api.Owner, trail *audit.Trail) api.Owner {
	o := &auditedOwner{next: next, trail: trail}
	o.Invoke = func(ctx context.Context, method string, arguments []any, results ...any) error {
		row := api.OperationOf(method)
		err := row.Invoke(ctx, next, arguments, results...)
		if row.Audit == "" {
			return err
		}
		e := audit.Entry{Kind: audit.ActionKind(row.Audit), ObjectName: row.Setting}
		if strings.Contains(row.Route, "{id}") {
			e.Object = arguments[0].(string)
		}
		o.recordAction(ctx, e, err)
		return err
	}
	return o
}

// recordAction writes down how something ended.
func (o *auditedOwner) recordAction(ctx context.Context, e audit.Entry, err error) {
	var problem *api.Error
	switch {
	case errors.As(err, &problem) && problem.Status < 500:
		e.Outcome, e.Reason = audit.Refused, problem.Code
	case errors.As(err, &problem):
		e.Outcome, e.Reason = audit.Failed, problem.Code
	case err != nil:
		e.Outcome = audit.Failed
	}
	o.trail.Record(ctx, e)
}

// settingObject is an entry about something of a connection, or of the server when there is none.
func settingObject(name, connectionID string) audit.Entry {
	return audit.Entry{Kind: audit.SettingChange, Object: connectionID, ObjectName: name}
}

func (o *auditedOwner) Connect(ctx context.Context, c api.Connect) (api.Detail, error) {
	named := o.confirmsByNaming(ctx, c.ConnectorID)
	d, err := o.next.Connect(ctx, c)
	if named && err == nil {
		o.recordAction(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: c.ConnectorID}, nil)
	}
	e := audit.Entry{Kind: audit.ConnectionAdd, Object: c.ConnectorID, ObjectName: c.DisplayName}
	if err == nil {
		e.Object, e.ObjectName = d.ID, d.DisplayName
	}
	o.recordAction(ctx, e, err)
	if err == nil && len(c.Fields) > 0 {
		o.recordAction(ctx, audit.Entry{Kind: audit.CredentialStore, Object: d.ID, ObjectName: d.DisplayName}, nil)
	}
	return d, err
}

// confirmsByNaming reports whether a new connection confirms a foreign connector, which only its first connection
// does. It ignores errors of the list; the operation itself reports them.
func (o *auditedOwner) confirmsByNaming(ctx context.Context, connectorID string) bool {
	all, err := o.next.Connectors(ctx)
	return err == nil && slices.ContainsFunc(all, func(c api.Connector) bool {
		return c.ID == connectorID && c.Foreign != nil && !c.Foreign.Confirmed && !c.Foreign.Changed
	})
}

func (o *auditedOwner) FinishSignIn(ctx context.Context, a api.SignInAnswer) (api.SignInDone, error) {
	done, err := o.next.FinishSignIn(ctx, a)
	if done.Connected || err != nil { // to ask whether a code was entered is no deed
		o.recordAction(ctx, audit.Entry{Kind: audit.CredentialStore, Object: done.ConnectionID}, err)
	}
	return done, err
}

func (o *auditedOwner) SetProviderApp(ctx context.Context, connectorID string, app api.ProviderApp) error {
	err := o.next.SetProviderApp(ctx, connectorID, app)
	o.recordAction(ctx, settingObject("app at the provider of "+connectorID, ""), err)
	return err
}

func (o *auditedOwner) RetryGap(ctx context.Context, id string) (api.Gap, error) {
	g, err := o.next.RetryGap(ctx, id)
	o.recordAction(ctx, settingObject("decision about a gap", g.ConnectionID), err)
	return g, err
}

func (o *auditedOwner) IgnoreGap(ctx context.Context, id, why string) (api.Gap, error) {
	g, err := o.next.IgnoreGap(ctx, id, why)
	o.recordAction(ctx, settingObject("decision about a gap", g.ConnectionID), err)
	return g, err
}

func (o *auditedOwner) Rewind(ctx context.Context, r api.Rewind) (api.BookmarkCommit, error) {
	made, err := o.next.Rewind(ctx, r)
	o.recordAction(ctx, settingObject("bookmark", r.ConnectionID), err)
	return made, err
}

// RunRecovery is logged like RunAnyway if it overrides a pause that the source asked for.
func (o *auditedOwner) RunRecovery(ctx context.Context, id string, anyway bool) error {
	err := o.next.RunRecovery(ctx, id, anyway)
	if anyway {
		o.recordAction(ctx, audit.Entry{Kind: audit.RunAnyway, Object: id}, err)
	}
	return err
}

func (o *auditedOwner) Export(ctx context.Context, w io.Writer, q api.ExportQuery) error {
	counted := &exportcount.ExportCounter{To: w, Format: q.Format}
	err := o.next.Export(ctx, counted, q)
	records := counted.Records()
	o.recordAction(ctx, audit.Entry{Kind: audit.Export, Object: q.ConnectionID, ObjectName: q.Stream, Records: &records},
		err)
	return err
}

// CopyFile is an export of one thing.
func (o *auditedOwner) CopyFile(ctx context.Context, w io.Writer, sha256 string) error {
	err := o.next.CopyFile(ctx, w, sha256)
	o.recordAction(ctx, audit.Entry{Kind: audit.Export, ObjectName: "file " + sha256[:min(len(sha256), 12)]}, err)
	return err
}

func (o *auditedOwner) CreateGrant(ctx context.Context, g api.NewGrant) (api.Grant, string, error) {
	made, token, err := o.next.CreateGrant(ctx, g)
	o.recordAction(ctx, audit.Entry{Kind: audit.GrantMake, Object: made.ID, ObjectName: g.ClientName}, err)
	return made, token, err
}

func (o *auditedOwner) RevokeGrant(ctx context.Context, id string) error {
	g, _ := o.next.Grant(ctx, id) // a name for the entry; without it the id has to do
	err := o.next.RevokeGrant(ctx, id)
	o.recordAction(ctx, audit.Entry{Kind: audit.GrantEnd, Object: id, ObjectName: g.ClientName}, err)
	return err
}

func (o *auditedOwner) Decide(ctx context.Context, id string, d api.Decision) (string, error) {
	asked, _ := o.next.GrantRequest(ctx, id) // as above
	redirect, err := o.next.Decide(ctx, id, d)
	e := audit.Entry{Kind: audit.ConsentGive, Object: id, ObjectName: asked.ClientName}
	if !d.Approve {
		e.Kind = audit.ConsentDeny
	}
	o.recordAction(ctx, e, err)
	return redirect, err
}

func (o *auditedOwner) CreateToken(ctx context.Context, t api.NewToken) (api.Token, string, error) {
	made, token, err := o.next.CreateToken(ctx, t)
	o.recordAction(ctx, audit.Entry{Kind: audit.TokenMake, Object: made.ID, ObjectName: t.Label}, err)
	return made, token, err
}

func (o *auditedOwner) AddPushTarget(ctx context.Context, t api.NewPushTarget) (api.PushTarget, error) {
	made, err := o.next.AddPushTarget(ctx, t)
	o.recordAction(ctx, settingObject("push target", made.ID), err)
	return made, err
}

func (o *auditedOwner) SaveSearch(ctx context.Context, s api.NewSearch) (api.SavedSearch, error) {
	made, err := o.next.SaveSearch(ctx, s)
	o.recordAction(ctx, settingObject("saved search", made.ID), err)
	return made, err
}

func (o *auditedOwner) RenameDevice(ctx context.Context, id, name string) error {
	err := o.next.RenameDevice(ctx, id, name)
	o.recordAction(ctx, settingObject("name of a device", ""), err)
	return err
}

func (o *auditedOwner) RevokeDevice(ctx context.Context, id string) error {
	err := o.next.RevokeDevice(ctx, id)
	o.recordAction(ctx, audit.Entry{Kind: audit.DeviceEnd, Object: id, ObjectName: o.deviceName(ctx, id)}, err)
	return err
}

func (o *auditedOwner) UndoDevice(ctx context.Context, id string, since time.Time) (api.DeviceUndone, error) {
	done, err := o.next.UndoDevice(ctx, id, since)
	o.recordAction(ctx, audit.Entry{Kind: audit.DeviceUndo, Object: id, ObjectName: o.deviceName(ctx, id)}, err)
	return done, err
}

// AddSourceFile is an entry about the connector, which the owner confirms with it.
func (o *auditedOwner) AddSourceFile(ctx context.Context, f api.SourceFile) (api.SourceReview, error) {
	got, err := o.next.AddSourceFile(ctx, f)
	name := cmp.Or(got.Name, text.Cut(text.Line(f.Name), 64))
	o.recordAction(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: name}, err)
	return got, err
}

func (o *auditedOwner) RemoveSourceFile(ctx context.Context, name string) error {
	err := o.next.RemoveSourceFile(ctx, name)
	o.recordAction(ctx, settingObject("source file "+text.Cut(text.Line(name), 64), ""), err)
	return err
}

func (o *auditedOwner) Import(ctx context.Context, id string, f api.ImportFile) (api.Import, error) {
	got, err := o.next.Import(ctx, id, f)
	if !got.Already { // then nothing was done
		o.recordAction(ctx, audit.Entry{Kind: audit.FileImport, Object: id,
			ObjectName: cmp.Or(got.Name, text.Cut(text.Line(f.Name), 120))}, err)
	}
	return got, err
}

func (o *auditedOwner) BeginUpload(ctx context.Context, id string, n api.NewUpload) (api.Upload, error) {
	got, err := o.next.BeginUpload(ctx, id, n)
	if got.Import == nil { // then nothing was done
		o.recordAction(ctx, audit.Entry{Kind: audit.FileUpload, Object: id,
			ObjectName: cmp.Or(got.Name, text.Cut(text.Line(n.Name), 120))}, err)
	}
	return got, err
}

// AddPiece is written down when the file has come to its end, or is found to be another.
func (o *auditedOwner) AddPiece(ctx context.Context, id, upload string, p api.Piece) (api.Upload, error) {
	got, err := o.next.AddPiece(ctx, id, upload, p)
	known := new(api.Error)
	if got.Import != nil && !got.Import.Already || errors.As(err, &known) && known.Code == api.CodeFileDiffers {
		o.recordAction(ctx, audit.Entry{Kind: audit.FileImport, Object: id, ObjectName: got.Name}, err)
	}
	return got, err
}

func (o *auditedOwner) DropUpload(ctx context.Context, id, upload string) error {
	was, _ := o.next.UploadByID(ctx, id, upload) // without it there is no name
	err := o.next.DropUpload(ctx, id, upload)
	o.recordAction(ctx, audit.Entry{Kind: audit.UploadDrop, Object: id, ObjectName: cmp.Or(was.Name, upload)}, err)
	return err
}

func (o *auditedOwner) UndoImport(ctx context.Context, id string) (api.Import, error) {
	done, err := o.next.UndoImport(ctx, id)
	o.recordAction(ctx, audit.Entry{Kind: audit.ImportUndo, Object: cmp.Or(done.ConnectionID, id), ObjectName: done.Name,
		Records: &done.Deleted}, err)
	return done, err
}

// deviceName names a device for an entry; without it the id has to do.
func (o *auditedOwner) deviceName(ctx context.Context, id string) string {
	all, _ := o.next.Devices(ctx)
	for _, d := range all {
		if d.ID == id {
			return d.DisplayName
		}
	}
	return ""
}

func (o *auditedOwner) AddDevice(ctx context.Context, n api.NewDevice) (api.DeviceCode, error) {
	made, err := o.next.AddDevice(ctx, n)
	o.recordAction(ctx, audit.Entry{Kind: audit.DeviceCodeMake, Object: made.ID,
		ObjectName: cmp.Or(made.DisplayName, n.ConnectorID)}, err)
	return made, err
}

func (o *auditedOwner) Delete(ctx context.Context, r api.DeletionRequest) (api.Deletion, error) {
	d, err := o.next.Delete(ctx, r)
	return d, o.recordDeletion(ctx, audit.DataDelete, d, cmp.Or(r.ConnectionID, r.Scope), err)
}

func (o *auditedOwner) UndoDeletion(ctx context.Context, id string) (api.Deletion, error) {
	d, err := o.next.UndoDeletion(ctx, id)
	return d, o.recordDeletion(ctx, audit.DataRestore, d, id, err)
}

func (o *auditedOwner) PurgeDeletion(ctx context.Context, id string) (api.Deletion, error) {
	d, err := o.next.PurgeDeletion(ctx, id)
	return d, o.recordDeletion(ctx, audit.DataPurge, d, id, err)
}

func (o *auditedOwner) CollectDeleted(ctx context.Context, id string) (api.Deletion, error) {
	d, err := o.next.CollectDeleted(ctx, id)
	o.recordAction(ctx, settingObject("what is collected", cmp.Or(d.ConnectionID, id)), err)
	return d, err
}

// recordDeletion records a deletion, or what became of one.
func (o *auditedOwner) recordDeletion(ctx context.Context, kind audit.ActionKind, d api.Deletion, asked string,
	err error) error {
	o.recordAction(ctx, audit.Entry{Kind: kind, Object: cmp.Or(d.ID, asked), ObjectName: d.What, Records: &d.Records}, err)
	return err
}
