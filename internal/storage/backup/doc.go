// Package backup writes everything that an owner has into one file and restores it: the database, the files of
// records, imported files, the key of the stored credentials, and the foreign connectors.
//
// An archive is a tar, compressed by gzip and sealed by age, so that the owner can open it without this program (age
// -d FILE | tar xz). It begins with a header that describes its content and ends with the sums of every file, so that
// truncation and changes are detected.
//
// Both directions may be killed at any time. An archive appears under its name when it is complete and has been read
// back. A home is replaced when the new one is complete and checked.
package backup

// Codes of errors.
const (
	CodeDamaged   = "backup_damaged"
	CodeWrongKey  = "backup_wrong_key"
	CodeKeyNeeded = "backup_key_needed"
	CodeOlder     = "backup_older"
	CodeNewer     = "backup_newer"
	CodeExists    = "file_exists"
	CodeHomeInUse = "home_in_use"
	CodeHomeFull  = "home_has_data"
	CodeNoData    = "storage_missing"
	CodeBusy      = "backup_running"
	CodeInvalid   = "backup_recipient_invalid"
	CodePlace     = "backup_place_unusable"
	CodeNotSealed = "backup_not_sealed"
	CodeNotProven = "backup_not_proven"
)

// Step is a part of the work, for progress reports. Done and Total count bytes; Total is zero when the size is
// unknown.
type Step struct {
	Name        StepName
	Done, Total int64
}

// StepName is the name of a step.
type StepName string

const (
	StepCopy    StepName = "copy"    // the database, while others write to it
	StepCheck   StepName = "check"   // the copy of the database
	StepWrite   StepName = "write"   // the archive
	StepVerify  StepName = "verify"  // the archive, read back
	StepPlace   StepName = "place"   // the archive gets its name
	StepExtract StepName = "extract" // the archive, into a folder next to the home
	StepReplace StepName = "replace" // the folder replaces the home
	StepAside   StepName = "aside"   // the old home is renamed
)

// Observer receives each step, repeatedly while it progresses. It may be nil.
type Observer func(Step)

func (o Observer) report(name StepName, done, total int64) {
	if o != nil {
		o(Step{Name: name, Done: done, Total: total})
	}
}

// Names in a home and in an archive.
const (
	databaseFile         = "pdpp.db"
	connectorsDir        = "connectors"
	blobsDir             = "blobs"
	headerFile           = "pdpp-backup.json"
	sumsFile             = "pdpp-sums.json"
	importsDir           = "imports"
	archiveFormat        = 3
	formatWithoutImports = 2 // the format of archives without imported files
	formatWithoutBlobs   = 1 // the format of archives without files of records
	inProgressFile       = "RESTORE-IN-PROGRESS"
	maxHeaderSize        = 1 << 20
	maxSumsSize          = 64 << 20
	bufferSize           = 1 << 18
	archiveTempName      = ".pdpp-backup-*"
	workFolder           = ".backup-*"
	lockFile             = ".backup.lock"
	stagingSuffix        = ".restoring-"
	asideSuffix          = ".before-restore-"
	asideTimeFormat      = "20060102-150405"
)
