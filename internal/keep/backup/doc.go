// Package backup writes the whole house of an owner into one file and puts it back:
// the database, the files of records, those that the owner imported, the key of the stored
// credentials, and the foreign connectors.
//
// An archive is a tar, compressed by gzip and sealed by age, so that the owner can
// open it without this program (age -d FILE | tar xz). It begins with a header that
// says what is in it and ends with the sums of every file: one that was cut off or
// changed is recognised as such.
//
// Both directions are safe to kill. An archive appears under its name when it is whole
// and has been read back; a home is replaced when the new one is whole and checked.
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
)

// Step is a part of the work, for whoever shows progress. Done and Total count bytes;
// Total is zero when the size is not known.
type Step struct {
	Name        StepName
	Done, Total int64
}

// StepName names a part of the work.
type StepName string

const (
	StepCopy    StepName = "copy"    // the database, while others write to it
	StepCheck   StepName = "check"   // the copy of the database
	StepWrite   StepName = "write"   // the archive
	StepVerify  StepName = "verify"  // the archive, read back
	StepPlace   StepName = "place"   // the archive gets its name
	StepExtract StepName = "extract" // the archive, into a folder beside the home
	StepReplace StepName = "replace" // the folder takes the place of the home
	StepAside   StepName = "aside"   // the old home gets a name of its own
)

// Observer is told of each step, often while it goes on. It may be nil.
type Observer func(Step)

func (o Observer) tell(name StepName, done, total int64) {
	if o != nil {
		o(Step{Name: name, Done: done, Total: total})
	}
}

// Names in a home and in an archive.
const (
	databaseFile    = "pdpp.db"
	connectorsDir   = "connectors"
	blobsDir        = "blobs"
	headerFile      = "pdpp-backup.json"
	sumsFile        = "pdpp-sums.json"
	importsDir      = "imports"
	archiveFormat   = 3
	withoutImports  = 2 // the format of an archive without files that were imported
	withoutBlobs    = 1 // and without files of records
	inProgressFile  = "RESTORE-IN-PROGRESS"
	maxHeader       = 1 << 20
	maxSums         = 64 << 20
	bufferSize      = 1 << 18
	archiveTemp     = ".pdpp-backup-*"
	workFolder      = ".backup-*"
	lockFile        = ".backup.lock"
	stagingSuffix   = ".restoring-"
	asideSuffix     = ".before-restore-"
	asideTimeFormat = "20060102-150405"
)
