package settings

import (
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// auditPhrase holds the words for a completed action and for an attempted one.
type auditPhrase struct{ did, toDo string }

// auditPhrases have an object where there is a star.
var auditPhrases = map[audit.ActionKind]auditPhrase{
	audit.SignIn:            {"signed in with *", "sign in with *"},
	audit.SignOut:           {"signed out", "sign out"},
	audit.PasswordChange:    {"changed the password", "change the password"},
	audit.SessionsEnd:       {"ended *", "end *"},
	audit.PasskeyAdd:        {"added the passkey *", "add the passkey *"},
	audit.PasskeyRemove:     {"removed the passkey *", "remove the passkey *"},
	audit.RecoveryCodesMake: {"made new recovery codes", "make new recovery codes"},
	audit.TokenMake:         {"made the token *", "make the token *"},
	audit.TokenEnd:          {"ended the token *", "end the token *"},
	audit.GrantMake:         {"let * read", "let * read"},
	audit.GrantEnd:          {"took back the grant of *", "take back the grant of *"},
	audit.ConsentGive:       {"gave * what it asked for", "give * what it asked for"},
	audit.ConsentDeny:       {"denied * what it asked for", "deny * what it asked for"},
	audit.Read:              {"read *", "read *"},
	audit.Export:            {"exported *", "export *"},
	audit.Backup:            {"made a backup", "make a backup"},
	audit.Restore:           {"restored a backup", "restore a backup"},
	audit.ConnectionAdd:     {"connected *", "connect *"},
	audit.ConnectionEnd:     {"ended the connection *", "end the connection *"},
	audit.ConnectorConfirm:  {"confirmed the connector *", "confirm the connector *"},
	audit.CredentialStore:   {"stored a credential of *", "store a credential of *"},
	audit.CredentialRemove:  {"removed the credential of *", "remove the credential of *"},
	audit.DeviceCodeMake:    {"made a code for a device to collect *", "make a code for a device to collect *"},
	audit.DeviceCodeEnd:     {"cancelled the code of a device", "cancel the code of a device"},
	audit.DeviceAdd:         {"was let in to collect *", "be let in to collect *"},
	audit.DeviceEnd:         {"revoked the device *", "revoke the device *"},
	audit.DeviceUndo:        {"took back what the device * had sent", "take back what the device * had sent"},
	audit.FileImport:        {"imported *", "import *"},
	audit.FileUpload:        {"began to upload *", "upload *"},
	audit.UploadDrop:        {"dropped the upload of *", "drop the upload of *"},
	audit.ImportUndo:        {"took back what came from *", "take back what came from *"},
	audit.DataDelete:        {"deleted *", "delete *"},
	audit.DataRestore:       {"restored *", "restore *"},
	audit.DataPurge:         {"deleted * for good", "delete * for good"},
	audit.RunAnyway:         {"had * asked although it wants a pause", "have * asked although it wants a pause"},
	audit.SettingChange:     {"changed *", "change *"},
}

// auditSentence describes an entry for people. connection is the name of the connection that the action affected, if
// any.
func auditSentence(e store.AuditEntry, connection string) string {
	if e.Kind == string(audit.SignIn) && e.Outcome == string(audit.Refused) {
		return refusedSignIn(e)
	}
	phrase, ok := auditPhrases[audit.ActionKind(e.Kind)]
	if !ok {
		phrase = auditPhrase{e.Kind + " *", e.Kind + " *"}
	}
	object := auditObject(e, connection)
	if e.Outcome == string(audit.Succeeded) {
		return auditSubject(e) + " " + strings.Replace(phrase.did, "*", object, 1) + repeatText(e)
	}
	tried := auditSubject(e) + " tried to " + strings.Replace(phrase.toDo, "*", object, 1) + repeatText(e)
	switch {
	case e.Outcome != string(audit.Refused):
		return tried + ", which failed"
	case e.Actor == string(audit.SessionActor):
		return tried + " and were refused: " + auditReasonText(e.Reason)
	default:
		return tried + " and was refused: " + auditReasonText(e.Reason)
	}
}

func refusedSignIn(e store.AuditEntry) string {
	switch e.Reason {
	case "wrong_password":
		return text.Count(e.Times, "wrong password", "wrong passwords")
	case "invalid_token":
		return text.Count(e.Times, "request with a token that is not good", "requests with a token that is not good")
	default:
		return text.Count(e.Times, "sign-in was refused", "sign-ins were refused") + ": " + auditReasonText(e.Reason)
	}
}

func auditSubject(e store.AuditEntry) string {
	named := func(otherwise string) string {
		if e.ActorName != "" {
			return e.ActorName
		}
		return otherwise
	}
	switch audit.ActorKind(e.Actor) {
	case audit.SessionActor:
		return "You"
	case audit.OwnerToken:
		return named("A token")
	case audit.Grant:
		return named("An app")
	case audit.CommandActor:
		return "A command on the server's machine"
	case audit.Device:
		return named("A device")
	case audit.Server:
		return "The server"
	default:
		return "Somebody"
	}
}

func auditObject(e store.AuditEntry, connection string) string {
	name := e.Object
	if e.ObjectName != "" {
		name = e.ObjectName
	}
	switch audit.ActionKind(e.Kind) {
	case audit.SignIn:
		return "a " + strings.ReplaceAll(e.Object, "_", " ")
	case audit.Read, audit.Export:
		return countedRecords(e, connection)
	case audit.SettingChange:
		if connection != "" {
			return "the " + name + " of " + connection
		}
		return "the " + name
	case audit.ConnectionAdd, audit.ConnectionEnd, audit.CredentialStore, audit.CredentialRemove, audit.DeviceAdd,
		audit.RunAnyway:
		if connection != "" {
			return connection
		}
	}
	if name == "" {
		return "something"
	}
	return name
}

// countedRecords is what left the house: how much of what.
func countedRecords(e store.AuditEntry, connection string) string {
	line := "records"
	if e.Records != nil {
		line = text.Count(*e.Records, "record", "records")
	}
	stream := e.ObjectName
	if stream == "" && connection == "" {
		stream = e.Object
	}
	if stream != "" {
		line += " of " + stream
	}
	if connection != "" {
		line += " from " + connection
	}
	return line
}

// repeatText returns the number of requests in words; empty for a single request.
func repeatText(e store.AuditEntry) string {
	if e.Times < 2 {
		return ""
	}
	return " in " + text.Number(e.Times) + " requests"
}

func auditReasonText(code string) string {
	if code == "" {
		return "without a reason"
	}
	return strings.ReplaceAll(code, "_", " ")
}
