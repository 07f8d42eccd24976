package ui

import (
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// ImportWords returns a sentence on the result of an import.
func ImportWords(i api.Import) string {
	all := i.New + i.Changed + i.Same
	switch i.Status {
	case api.ImportUndone:
		return "Undone. " + text.Count(i.Deleted, "record was deleted.", "records were deleted.")
	case api.ImportUndoing:
		return "Undoing it was broken off. " +
			text.Count(i.Deleted, "record is deleted so far.", "records are deleted so far.")
	case api.ImportWaiting:
		return "Waits for a run."
	case api.ImportReading:
		return "Reading. " + text.Count(all, "record so far.", "records so far.")
	case api.ImportFailed:
		return "The run that should read it did not succeed. " + text.Count(all, "record is kept.", "records are kept.")
	}
	if all == 0 {
		if n := int64(len(i.LeftOut)); n > 0 {
			return "Read. It holds " + text.Count(n, "kind of content that is", "kinds of content that are") +
				" not collected, and nothing new besides."
		}
		return "Read. There is nothing in it that was not read before."
	}
	words := "Imported. " + text.Number(i.New) + " new of " + text.Count(all, "record", "records")
	if i.Changed > 0 {
		words += ", " + text.Number(i.Changed) + " changed"
	}
	var missing int64
	for _, k := range i.Skipped {
		missing += k.Count
	}
	if missing > 0 {
		words += "; " + text.Count(missing, "place could not be read", "places could not be read")
	}
	if n := int64(len(i.LeftOut)); n > 0 {
		words += "; " + text.Count(n, "kind of content was left out", "kinds of content were left out")
	}
	return words + "."
}

// ImportSize is how large a file is.
func ImportSize(i api.Import) string {
	if i.Bytes == nil {
		return "Not measured"
	}
	return text.Bytes(*i.Bytes)
}
