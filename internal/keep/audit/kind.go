package audit

import "slices"

// Kind is what was done. The names are part of what pdpp audit and the JSON routes give.
type Kind string

const (
	SignIn            Kind = "sign_in" // the object is the way: password, passkey, recovery_code
	SignOut           Kind = "sign_out"
	PasswordChange    Kind = "password_change"
	SessionsEnd       Kind = "sessions_end"
	PasskeyAdd        Kind = "passkey_add"
	PasskeyRemove     Kind = "passkey_remove"
	RecoveryCodesMake Kind = "recovery_codes_make"

	TokenMake   Kind = "token_make"
	TokenEnd    Kind = "token_end"
	GrantMake   Kind = "grant_make"
	GrantEnd    Kind = "grant_end"
	ConsentGive Kind = "consent_give"
	ConsentDeny Kind = "consent_deny"

	Read Kind = "read" // by a grant

	Export  Kind = "export"
	Backup  Kind = "backup"
	Restore Kind = "restore"

	ConnectionAdd    Kind = "connection_add"
	ConnectionEnd    Kind = "connection_end"
	ConnectorConfirm Kind = "connector_confirm"
	CredentialStore  Kind = "credential_store"
	CredentialRemove Kind = "credential_remove"
	DeviceCodeMake   Kind = "device_code_make"
	DeviceCodeEnd    Kind = "device_code_end"
	DeviceAdd        Kind = "device_add" // the object is the connection that it collects
	DeviceEnd        Kind = "device_end"
	DeviceUndo       Kind = "device_undo"
	FileImport       Kind = "file_import"
	FileUpload       Kind = "file_upload" // begun; a file_import follows when it has come to its end
	UploadDrop       Kind = "upload_drop"
	ImportUndo       Kind = "import_undo"
	DataDelete       Kind = "data_delete"
	DataRestore      Kind = "data_restore"
	DataPurge        Kind = "data_purge" // without the time to undo it
	RunAnyway        Kind = "run_anyway" // although the source asked for a pause
	SettingChange    Kind = "setting_change"
)

// Group is kinds that are looked for together.
type Group struct {
	Name, Title string
	Kinds       []Kind
}

// Groups holds every kind once.
var Groups = []Group{
	{"reading", "Reading", []Kind{Read}},
	{"sign_ins", "Sign-ins", []Kind{SignIn, SignOut, PasswordChange, SessionsEnd, PasskeyAdd, PasskeyRemove, RecoveryCodesMake}},
	{"grants", "Grants and tokens", []Kind{TokenMake, TokenEnd, GrantMake, GrantEnd, ConsentGive, ConsentDeny}},
	{"exports", "Exports and backups", []Kind{Export, Backup, Restore}},
	{"settings", "Settings", []Kind{ConnectionAdd, ConnectionEnd, ConnectorConfirm, CredentialStore, CredentialRemove,
		DeviceCodeMake, DeviceCodeEnd, DeviceAdd, DeviceEnd, DeviceUndo, FileImport, FileUpload, UploadDrop, ImportUndo,
		DataDelete, DataRestore, DataPurge, RunAnyway,
		SettingChange}},
}

// GroupOf names the group of a kind.
func GroupOf(k Kind) string {
	for _, g := range Groups {
		if slices.Contains(g.Kinds, k) {
			return g.Name
		}
	}
	return ""
}

// KindsOf gives the kinds that a name means: those of a group, or the one kind itself;
// false when it means none.
func KindsOf(name string) ([]Kind, bool) {
	for _, g := range Groups {
		if g.Name == name {
			return g.Kinds, true
		}
		if slices.Contains(g.Kinds, Kind(name)) {
			return []Kind{Kind(name)}, true
		}
	}
	return nil, false
}
