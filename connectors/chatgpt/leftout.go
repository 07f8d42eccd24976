package chatgpt

import (
	"context"
	"io/fs"
	"regexp"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// uncollectedFiles are the files of an export that are not collected.
var uncollectedFiles = []localfile.LeftOut{
	{Name: "Account and settings", Patterns: []string{"**/user.json", "**/user_settings.json"}},
	{Name: "Feedback on answers", Patterns: []string{"**/message_feedback.json", "**/model_comparisons.json"}},
	{Name: "Group chats", Patterns: []string{"**/group_chats.json"}},
	{Name: "Sora", Patterns: []string{"**/sora.json", "**/sora/**"}},
	{Name: "Shopping", Patterns: []string{"**/shopping.json"}},
	{Name: "Pictures, sounds and files of messages", Patterns: []string{"**/file-*", "**/file_*",
		"**/dalle-generations/**", "**/user-*/**", "**/audio/**"}},
}

// packagingFiles holds only collected content: chat.html shows conversations.json.
var packagingFiles = []string{"**/chat.html", "**/export_manifest.json"}

// mostAccounts bounds the loose files of an unpacked export that are reported one by one.
const mostAccounts = 200

// addFileAccount adds the account of a file of the import folder.
func (e *exportIndex) addFileAccount(file string, left localfile.Leftovers) {
	e.accounts = append(e.accounts, connectorkit.Upsert(localfile.FileAccount(file, file, left)))
}

// countLeftOut counts a member of an export that is not collected.
func countLeftOut(left *localfile.Leftovers, name string) {
	if !localfile.MatchesAny(packagingFiles, name) {
		left.Add(uncollectedFiles, name)
	}
}

// zipFileName is a zip file where one is looked for.
var zipFileName = regexp.MustCompile(`^([^/]+/)?[^/]+\.[zZ][iI][pP]$`)

// accountLoose reports the files of an unpacked export that are not parts.
func (e *exportIndex) accountLoose(ctx context.Context, in fs.FS) error {
	var rest localfile.Leftovers
	seen := 0
	err := fs.WalkDir(in, ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if seen++; seen > maxEntries {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || conversationFileName.MatchString(name) || name == sharesName ||
			zipFileName.MatchString(name) {
			return err
		}
		var left localfile.Leftovers
		switch countLeftOut(&left, name); {
		case left.Empty():
		case len(e.accounts) < mostAccounts:
			e.addFileAccount(name, left)
		default:
			rest.Merge(left)
		}
		return nil
	})
	if !rest.Empty() {
		e.accounts = append(e.accounts, connectorkit.Upsert(localfile.FileAccount("rest", "", rest)))
	}
	return err
}

// accountsOf collects the accounts of an export; e is nil without one.
func accountsOf(e *exportIndex) connectorkit.PagedStream {
	page := func(context.Context, connectorkit.Cursor) (out connectorkit.Page, err error) {
		if e != nil {
			out.Records = e.accounts
		}
		out.Next = connectorkit.Cursor{"accounts": strconv.Itoa(len(out.Records))}
		return out, nil
	}
	return connectorkit.PagedStream{Stream: localfile.CoverageStream, Page: page}
}
