package deviceapi

import (
	"net/http"
	"reflect"

	"github.com/pdpp-go/pdpp/internal/device/wire"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// blobHeaders are the headers of a piece of a file.
type blobHeaders struct {
	Offset int64 `header:"Upload-Offset" required:"true"` // where the piece begins
	Length int64 `header:"Upload-Length" required:"true"` // the length of the whole file
}

// gapQuery limits how many gaps are leased.
type gapQuery struct {
	Limit int `query:"limit" minimum:"1"`
}

// collectionAnswer is the answer to a collectionReport.
type collectionAnswer struct {
	OK bool `json:"ok"`
}

const (
	devicePath = wire.Root + "/{device}"
	sourcePath = devicePath + "/source-instances/{source}"
)

// operations describes the routes, by their patterns.
var operations = map[string]reply.Operation{
	"POST " + wire.Root + "/enroll": {Name: "enrolDevice", Tag: "devices", Summary: "Enroll a device with a code",
		Access: reply.AccessEnroll, Body: reflect.TypeFor[wire.Enrollment](),
		Answers: reply.Returns[wire.Enrolled](http.StatusCreated)},
	"POST " + devicePath + "/token": forDevice[wire.NewToken](reply.Operation{Name: "rotateDeviceToken",
		Summary: "Make a new token; the old one is valid until the new one is used"}, http.StatusCreated),
	"POST " + devicePath + "/self-revoke": forDevice[wire.Revocation](reply.Operation{Name: "revokeThisDevice",
		Summary: "End the device that asks"}, http.StatusOK),
	"POST " + devicePath + "/heartbeat": forDevice[wire.HeartbeatAnswer](reply.Operation{Name: "deviceHeartbeat",
		Summary: "Report the state of a device's sources", Body: reflect.TypeFor[wire.Heartbeat](),
		OtherBody: reflect.TypeFor[wire.Heartbeats]()}, http.StatusOK),
	"POST " + devicePath + "/ingest-batches": forDevice[wire.BatchResult](reply.Operation{Name: "uploadBatch",
		Summary:     "Upload a batch, which is stored completely or not at all; a repeated batch gets the same answer",
		Description: "The body may be compressed with gzip and holds up to 20 MiB.",
		Body:        reflect.TypeFor[wire.Batch]()}, http.StatusCreated),
	"GET " + sourcePath + "/state": forDevice[wire.State](reply.Operation{Name: "readSourceState",
		Summary: "Where a source continues"}, http.StatusOK),
	"PUT " + sourcePath + "/state": forDevice[wire.State](reply.Operation{Name: "moveSourceState",
		Summary: "Move bookmarks of a source, by key", Body: reflect.TypeFor[wire.StateUpdate]()}, http.StatusOK),
	"GET " + sourcePath + "/blobs/{sha256}": forDevice[wire.Blob](reply.Operation{Name: "readSourceBlob",
		Summary: "How much of a source's file the server has"}, http.StatusOK),
	"PUT " + sourcePath + "/blobs/{sha256}": forDevice[wire.Blob](reply.Operation{Name: "uploadSourceBlob",
		Summary:     "Upload a piece of a file, of at most 4 MiB",
		Description: "A record may name the file once it is complete.",
		Query:       reflect.TypeFor[blobHeaders](), BodyKind: "application/octet-stream"}, http.StatusOK),
	"GET " + sourcePath + "/gaps": forDevice[wire.LeasedGaps](reply.Operation{Name: "leaseSourceGaps",
		Summary: "What the device may try again, for an hour", Query: reflect.TypeFor[gapQuery]()}, http.StatusOK),
	"POST " + sourcePath + "/local-collector-gaps": forDevice[wire.GapAnswer](reply.Operation{
		Name:    "reportCollectorGap",
		Summary: "Report what a collector could not collect", Body: reflect.TypeFor[wire.Gap]()}, http.StatusCreated),
	"POST " + sourcePath + "/local-collector-gaps/recovered": forDevice[wire.GapAnswer](reply.Operation{
		Name: "recoverCollectorGap", Summary: "Report what a collector has collected after all",
		Body: reflect.TypeFor[wire.GapRecovered]()}, http.StatusOK),
	"POST " + sourcePath + "/terminal-run-commits": forDevice[wire.TerminalCommitted](reply.Operation{
		Name: "commitDeviceRun", Summary: "Report the end of a pass; a repeated report gets 200",
		Body: reflect.TypeFor[wire.TerminalCommit]()}, http.StatusOK, http.StatusCreated),
	"POST " + sourcePath + "/terminal-collection": forDevice[collectionAnswer](reply.Operation{
		Name: "reportDeviceCollection", Summary: "Report the end of a pass without its state",
		Body: reflect.TypeFor[collectionReport]()}, http.StatusCreated),
}

// forDevice describes an operation of a device with an answer of one type.
func forDevice[T any](o reply.Operation, statuses ...int) reply.Operation {
	o.Tag, o.Access = "devices", reply.AccessDevice
	for _, status := range statuses {
		o.Answers = append(o.Answers, reply.Returns[T](status)...)
	}
	return o
}
