// Package audited writes down what an owner does, whatever surface it is done through:
// it stands in front of the one implementation of api.Owner on the machine that
// holds the data. What only looks is not written down, but for exports, which leave the
// house.
package audited

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// owner writes down and passes on.
type owner struct {
	api.Owner
	trail *audit.Trail
}

// Owner gives an owner whose deeds are written down in the trail.
func Owner(o api.Owner, trail *audit.Trail) api.Owner { return &owner{o, trail} }

// record writes down how something ended.
func (o *owner) record(ctx context.Context, e audit.Entry, err error) {
	var told *api.Error
	switch {
	case errors.As(err, &told) && told.Status < 500:
		e.Outcome, e.Reason = audit.Refused, told.Code
	case errors.As(err, &told):
		e.Outcome, e.Reason = audit.Failed, told.Code
	case err != nil:
		e.Outcome = audit.Failed
	}
	o.trail.Record(ctx, e)
}

// setting is an entry about something of a connection, or of the server when there is none.
func setting(name, connectionID string) audit.Entry {
	return audit.Entry{Kind: audit.SettingChange, Object: connectionID, ObjectName: name}
}

func (o *owner) Connect(ctx context.Context, c api.Connect) (api.Detail, error) {
	named := o.confirmsByNaming(ctx, c.ConnectorID)
	d, err := o.Owner.Connect(ctx, c)
	if named && err == nil {
		o.record(ctx, audit.Entry{Kind: audit.ConnectorConfirm, Object: c.ConnectorID}, nil)
	}
	e := audit.Entry{Kind: audit.ConnectionAdd, Object: c.ConnectorID, ObjectName: c.DisplayName}
	if err == nil {
		e.Object, e.ObjectName = d.ID, d.DisplayName
	}
	o.record(ctx, e, err)
	if err == nil && len(c.Fields) > 0 {
		o.record(ctx, audit.Entry{Kind: audit.CredentialStore, Object: d.ID, ObjectName: d.DisplayName}, nil)
	}
	return d, err
}

// confirmsByNaming reports whether a connection confirms a foreign connector, which the
// first one does. Trouble with the list is told by what needs it.
func (o *owner) confirmsByNaming(ctx context.Context, connectorID string) bool {
	all, err := o.Owner.Connectors(ctx)
	return err == nil && slices.ContainsFunc(all, func(c api.Connector) bool {
		return c.ID == connectorID && c.Foreign != nil && !c.Foreign.Confirmed && !c.Foreign.Changed
	})
}

func (o *owner) Rename(ctx context.Context, id, name string) error {
	err := o.Owner.Rename(ctx, id, name)
	o.record(ctx, setting("name", id), err)
	return err
}

func (o *owner) SetCredential(ctx context.Context, id string, fields map[string]string) error {
	err := o.Owner.SetCredential(ctx, id, fields)
	o.record(ctx, audit.Entry{Kind: audit.CredentialStore, Object: id}, err)
	return err
}

func (o *owner) BeginSignIn(ctx context.Context, id string, w api.SignInWish) (api.SignInBegun, error) {
	begun, err := o.Owner.BeginSignIn(ctx, id, w)
	o.record(ctx, setting("sign-in at the provider", id), err)
	return begun, err
}

func (o *owner) FinishSignIn(ctx context.Context, a api.SignInAnswer) (api.SignInDone, error) {
	done, err := o.Owner.FinishSignIn(ctx, a)
	if done.Connected || err != nil { // to ask whether a code was entered is no deed
		o.record(ctx, audit.Entry{Kind: audit.CredentialStore, Object: done.ConnectionID}, err)
	}
	return done, err
}

func (o *owner) SetProviderApp(ctx context.Context, connectorID string, app api.ProviderApp) error {
	err := o.Owner.SetProviderApp(ctx, connectorID, app)
	o.record(ctx, setting("app at the provider of "+connectorID, ""), err)
	return err
}

func (o *owner) RemoveCredential(ctx context.Context, id string) error {
	err := o.Owner.RemoveCredential(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.CredentialRemove, Object: id}, err)
	return err
}

func (o *owner) SetSchedule(ctx context.Context, id string, s api.Schedule) error {
	err := o.Owner.SetSchedule(ctx, id, s)
	o.record(ctx, setting("schedule", id), err)
	return err
}

func (o *owner) DeleteSchedule(ctx context.Context, id string) error {
	err := o.Owner.DeleteSchedule(ctx, id)
	o.record(ctx, setting("schedule", id), err)
	return err
}

func (o *owner) SetLimits(ctx context.Context, id string, l api.Limits) error {
	err := o.Owner.SetLimits(ctx, id, l)
	o.record(ctx, setting("limits", id), err)
	return err
}

func (o *owner) SetSelection(ctx context.Context, id string, s api.Selection) error {
	err := o.Owner.SetSelection(ctx, id, s)
	o.record(ctx, setting("selection", id), err)
	return err
}

func (o *owner) Revoke(ctx context.Context, id string) error {
	err := o.Owner.Revoke(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.ConnectionEnd, Object: id}, err)
	return err
}

func (o *owner) RetryGap(ctx context.Context, id string) (api.Gap, error) {
	g, err := o.Owner.RetryGap(ctx, id)
	o.record(ctx, setting("decision about a gap", g.ConnectionID), err)
	return g, err
}

func (o *owner) IgnoreGap(ctx context.Context, id, why string) (api.Gap, error) {
	g, err := o.Owner.IgnoreGap(ctx, id, why)
	o.record(ctx, setting("decision about a gap", g.ConnectionID), err)
	return g, err
}

func (o *owner) Rewind(ctx context.Context, r api.Rewind) (api.BookmarkCommit, error) {
	made, err := o.Owner.Rewind(ctx, r)
	o.record(ctx, setting("bookmark", r.ConnectionID), err)
	return made, err
}

func (o *owner) RunAnyway(ctx context.Context, id string) error {
	err := o.Owner.RunAnyway(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.RunAnyway, Object: id}, err)
	return err
}

// RunRecovery is a deed as RunAnyway is when the source is asked although it is to be left alone.
func (o *owner) RunRecovery(ctx context.Context, id string, anyway bool) error {
	err := o.Owner.RunRecovery(ctx, id, anyway)
	if anyway {
		o.record(ctx, audit.Entry{Kind: audit.RunAnyway, Object: id}, err)
	}
	return err
}

func (o *owner) Export(ctx context.Context, w io.Writer, q api.ExportQuery) error {
	counted := &api.ExportCounter{To: w, Format: q.Format}
	err := o.Owner.Export(ctx, counted, q)
	records := counted.Records()
	o.record(ctx, audit.Entry{Kind: audit.Export, Object: q.ConnectionID, ObjectName: q.Stream, Records: &records}, err)
	return err
}

// CopyFile is an export of one thing.
func (o *owner) CopyFile(ctx context.Context, w io.Writer, sha256 string) error {
	err := o.Owner.CopyFile(ctx, w, sha256)
	o.record(ctx, audit.Entry{Kind: audit.Export, ObjectName: "file " + sha256[:min(len(sha256), 12)]}, err)
	return err
}

func (o *owner) CreateGrant(ctx context.Context, g api.NewGrant) (api.Grant, string, error) {
	made, token, err := o.Owner.CreateGrant(ctx, g)
	o.record(ctx, audit.Entry{Kind: audit.GrantMake, Object: made.ID, ObjectName: g.ClientName}, err)
	return made, token, err
}

func (o *owner) RevokeGrant(ctx context.Context, id string) error {
	g, _ := o.Owner.Grant(ctx, id) // a name for the entry; without it the id has to do
	err := o.Owner.RevokeGrant(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.GrantEnd, Object: id, ObjectName: g.ClientName}, err)
	return err
}

func (o *owner) Decide(ctx context.Context, id string, d api.Decision) (string, error) {
	asked, _ := o.Owner.GrantRequest(ctx, id) // as above
	redirect, err := o.Owner.Decide(ctx, id, d)
	e := audit.Entry{Kind: audit.ConsentGive, Object: id, ObjectName: asked.ClientName}
	if !d.Approve {
		e.Kind = audit.ConsentDeny
	}
	o.record(ctx, e, err)
	return redirect, err
}

func (o *owner) CreateToken(ctx context.Context, t api.NewToken) (api.Token, string, error) {
	made, token, err := o.Owner.CreateToken(ctx, t)
	o.record(ctx, audit.Entry{Kind: audit.TokenMake, Object: made.ID, ObjectName: t.Label}, err)
	return made, token, err
}

func (o *owner) RevokeToken(ctx context.Context, id string) error {
	err := o.Owner.RevokeToken(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.TokenEnd, Object: id}, err)
	return err
}

func (o *owner) EndSession(ctx context.Context, id string) error {
	err := o.Owner.EndSession(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.SessionsEnd, Object: id}, err)
	return err
}

func (o *owner) EndSessions(ctx context.Context) error {
	err := o.Owner.EndSessions(ctx)
	o.record(ctx, audit.Entry{Kind: audit.SessionsEnd}, err)
	return err
}

func (o *owner) RemovePasskey(ctx context.Context, id string) error {
	err := o.Owner.RemovePasskey(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.PasskeyRemove, Object: id}, err)
	return err
}

func (o *owner) MakeRecoveryCodes(ctx context.Context) ([]string, error) {
	codes, err := o.Owner.MakeRecoveryCodes(ctx)
	o.record(ctx, audit.Entry{Kind: audit.RecoveryCodesMake}, err)
	return codes, err
}

func (o *owner) SetPassword(ctx context.Context, p api.NewPassword) error {
	err := o.Owner.SetPassword(ctx, p)
	o.record(ctx, audit.Entry{Kind: audit.PasswordChange}, err)
	return err
}

func (o *owner) AddPushTarget(ctx context.Context, t api.NewPushTarget) (api.PushTarget, error) {
	made, err := o.Owner.AddPushTarget(ctx, t)
	o.record(ctx, setting("push target", made.ID), err)
	return made, err
}

func (o *owner) DeletePushTarget(ctx context.Context, id string) error {
	err := o.Owner.DeletePushTarget(ctx, id)
	o.record(ctx, setting("push target", id), err)
	return err
}

func (o *owner) SaveSearch(ctx context.Context, s api.NewSearch) (api.SavedSearch, error) {
	made, err := o.Owner.SaveSearch(ctx, s)
	o.record(ctx, setting("saved search", made.ID), err)
	return made, err
}

func (o *owner) RenameSearch(ctx context.Context, id, name string) error {
	err := o.Owner.RenameSearch(ctx, id, name)
	o.record(ctx, setting("saved search", id), err)
	return err
}

func (o *owner) DeleteSearch(ctx context.Context, id string) error {
	err := o.Owner.DeleteSearch(ctx, id)
	o.record(ctx, setting("saved search", id), err)
	return err
}

func (o *owner) SetQuietHours(ctx context.Context, window string) error {
	err := o.Owner.SetQuietHours(ctx, window)
	o.record(ctx, setting("quiet hours", ""), err)
	return err
}

func (o *owner) SetAuditRetention(ctx context.Context, days int) error {
	err := o.Owner.SetAuditRetention(ctx, days)
	o.record(ctx, setting("time that this trail is kept", ""), err)
	return err
}

func (o *owner) RenameDevice(ctx context.Context, id, name string) error {
	err := o.Owner.RenameDevice(ctx, id, name)
	o.record(ctx, setting("name of a device", ""), err)
	return err
}

func (o *owner) RevokeDevice(ctx context.Context, id string) error {
	err := o.Owner.RevokeDevice(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.DeviceEnd, Object: id, ObjectName: o.deviceName(ctx, id)}, err)
	return err
}

func (o *owner) UndoDevice(ctx context.Context, id string, since time.Time) (api.DeviceUndone, error) {
	done, err := o.Owner.UndoDevice(ctx, id, since)
	o.record(ctx, audit.Entry{Kind: audit.DeviceUndo, Object: id, ObjectName: o.deviceName(ctx, id)}, err)
	return done, err
}

func (o *owner) Import(ctx context.Context, id string, f api.ImportFile) (api.Import, error) {
	got, err := o.Owner.Import(ctx, id, f)
	if !got.Already { // then nothing was done
		o.record(ctx, audit.Entry{Kind: audit.FileImport, Object: id, ObjectName: cmp.Or(got.Name, text.Cut(text.Line(f.Name), 120))}, err)
	}
	return got, err
}

func (o *owner) BeginUpload(ctx context.Context, id string, n api.NewUpload) (api.Upload, error) {
	got, err := o.Owner.BeginUpload(ctx, id, n)
	if got.Import == nil { // then nothing was done
		o.record(ctx, audit.Entry{Kind: audit.FileUpload, Object: id, ObjectName: cmp.Or(got.Name, text.Cut(text.Line(n.Name), 120))}, err)
	}
	return got, err
}

// AddPiece is written down when the file has come to its end, or is found to be another.
func (o *owner) AddPiece(ctx context.Context, id, upload string, p api.Piece) (api.Upload, error) {
	got, err := o.Owner.AddPiece(ctx, id, upload, p)
	known := new(api.Error)
	if got.Import != nil && !got.Import.Already || errors.As(err, &known) && known.Code == api.CodeFileDiffers {
		o.record(ctx, audit.Entry{Kind: audit.FileImport, Object: id, ObjectName: got.Name}, err)
	}
	return got, err
}

func (o *owner) DropUpload(ctx context.Context, id, upload string) error {
	was, _ := o.Owner.UploadByID(ctx, id, upload) // without it there is no name
	err := o.Owner.DropUpload(ctx, id, upload)
	o.record(ctx, audit.Entry{Kind: audit.UploadDrop, Object: id, ObjectName: cmp.Or(was.Name, upload)}, err)
	return err
}

func (o *owner) UndoImport(ctx context.Context, id string) (api.Import, error) {
	done, err := o.Owner.UndoImport(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.ImportUndo, Object: cmp.Or(done.ConnectionID, id), ObjectName: done.Name, Records: &done.Deleted}, err)
	return done, err
}

// deviceName names a device for an entry; without it the id has to do.
func (o *owner) deviceName(ctx context.Context, id string) string {
	all, _ := o.Owner.Devices(ctx)
	for _, d := range all {
		if d.ID == id {
			return d.DisplayName
		}
	}
	return ""
}

func (o *owner) AddDevice(ctx context.Context, n api.NewDevice) (api.DeviceCode, error) {
	made, err := o.Owner.AddDevice(ctx, n)
	o.record(ctx, audit.Entry{Kind: audit.DeviceCodeMake, Object: made.ID, ObjectName: cmp.Or(made.DisplayName, n.ConnectorID)}, err)
	return made, err
}

func (o *owner) CancelDeviceCode(ctx context.Context, id string) error {
	err := o.Owner.CancelDeviceCode(ctx, id)
	o.record(ctx, audit.Entry{Kind: audit.DeviceCodeEnd, Object: id}, err)
	return err
}

func (o *owner) Delete(ctx context.Context, r api.DeletionRequest) (api.Deletion, error) {
	d, err := o.Owner.Delete(ctx, r)
	return d, o.deleted(ctx, audit.DataDelete, d, cmp.Or(r.ConnectionID, r.Scope), err)
}

func (o *owner) UndoDeletion(ctx context.Context, id string) (api.Deletion, error) {
	d, err := o.Owner.UndoDeletion(ctx, id)
	return d, o.deleted(ctx, audit.DataRestore, d, id, err)
}

func (o *owner) PurgeDeletion(ctx context.Context, id string) (api.Deletion, error) {
	d, err := o.Owner.PurgeDeletion(ctx, id)
	return d, o.deleted(ctx, audit.DataPurge, d, id, err)
}

func (o *owner) CollectDeleted(ctx context.Context, id string) (api.Deletion, error) {
	d, err := o.Owner.CollectDeleted(ctx, id)
	o.record(ctx, setting("what is collected", cmp.Or(d.ConnectionID, id)), err)
	return d, err
}

// deleted records a deletion, or what became of one.
func (o *owner) deleted(ctx context.Context, kind audit.Kind, d api.Deletion, asked string, err error) error {
	o.record(ctx, audit.Entry{Kind: kind, Object: cmp.Or(d.ID, asked), ObjectName: d.What, Records: &d.Records}, err)
	return err
}
