package audit

import "slices"

// ActionKind is what was done. Its values are part of the output of pdpp audit and the JSON routes.
type ActionKind string

const (
	SignIn            ActionKind = "sign_in" // the object is the method: password, passkey, recovery_code
	SignOut           ActionKind = "sign_out"
	PasswordChange    ActionKind = "password_change"
	SessionsEnd       ActionKind = "sessions_end"
	PasskeyAdd        ActionKind = "passkey_add"
	PasskeyRemove     ActionKind = "passkey_remove"
	RecoveryCodesMake ActionKind = "recovery_codes_make"

	TokenMake   ActionKind = "token_make"
	TokenEnd    ActionKind = "token_end"
	GrantMake   ActionKind = "grant_make"
	GrantEnd    ActionKind = "grant_end"
	ConsentGive ActionKind = "consent_give"
	ConsentDeny ActionKind = "consent_deny"

	Read ActionKind = "read" // through a grant

	Export  ActionKind = "export"
	Backup  ActionKind = "backup"
	Restore ActionKind = "restore"

	ConnectionAdd    ActionKind = "connection_add"
	ConnectionEnd    ActionKind = "connection_end"
	ConnectorConfirm ActionKind = "connector_confirm"
	CredentialStore  ActionKind = "credential_store"
	CredentialRemove ActionKind = "credential_remove"
	DeviceCodeMake   ActionKind = "device_code_make"
	DeviceCodeEnd    ActionKind = "device_code_end"
	DeviceAdd        ActionKind = "device_add" // the object is the connection that it collects
	DeviceEnd        ActionKind = "device_end"
	DeviceUndo       ActionKind = "device_undo"
	FileImport       ActionKind = "file_import"
	FileUpload       ActionKind = "file_upload" // started; a file_import follows when it is complete
	UploadDrop       ActionKind = "upload_drop"
	ImportUndo       ActionKind = "import_undo"
	DataDelete       ActionKind = "data_delete"
	DataRestore      ActionKind = "data_restore"
	DataPurge        ActionKind = "data_purge" // without the time to undo it
	RunAnyway        ActionKind = "run_anyway" // although the source asked for a pause
	SettingChange    ActionKind = "setting_change"
)

// Group is a set of kinds that are searched together.
type Group struct {
	Name, Title string
	Kinds       []ActionKind
}

// Groups contains every kind once.
var Groups = []Group{
	{"reading", "Reading", []ActionKind{Read}},
	{"sign_ins", "Sign-ins", []ActionKind{SignIn, SignOut, PasswordChange, SessionsEnd, PasskeyAdd, PasskeyRemove,
		RecoveryCodesMake}},
	{"grants", "Grants and tokens", []ActionKind{TokenMake, TokenEnd, GrantMake, GrantEnd, ConsentGive, ConsentDeny}},
	{"exports", "Exports and backups", []ActionKind{Export, Backup, Restore}},
	{
		"settings",
		"Settings",
		[]ActionKind{ConnectionAdd, ConnectionEnd, ConnectorConfirm, CredentialStore, CredentialRemove,
			DeviceCodeMake, DeviceCodeEnd, DeviceAdd, DeviceEnd, DeviceUndo, FileImport, FileUpload, UploadDrop, ImportUndo,
			DataDelete, DataRestore, DataPurge, RunAnyway,
			SettingChange},
	},
}

// GroupOfKind returns the name of a kind's group.
func GroupOfKind(k ActionKind) string {
	for _, g := range Groups {
		if slices.Contains(g.Kinds, k) {
			return g.Name
		}
	}
	return ""
}

// KindsByName returns the kinds of a group, or the one kind of that name; false for an unknown name.
func KindsByName(name string) ([]ActionKind, bool) {
	for _, g := range Groups {
		if g.Name == name {
			return g.Kinds, true
		}
		if slices.Contains(g.Kinds, ActionKind(name)) {
			return []ActionKind{ActionKind(name)}, true
		}
	}
	return nil, false
}
