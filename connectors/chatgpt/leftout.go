package chatgpt

import (
	"context"
	"io/fs"
	"regexp"
	"strconv"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// leftOut are the files of an export that are not collected.
var leftOut = []localfile.LeftOut{
	{Name: "Account and settings", Patterns: []string{"**/user.json", "**/user_settings.json"}},
	{Name: "Feedback on answers", Patterns: []string{"**/message_feedback.json", "**/model_comparisons.json"}},
	{Name: "Group chats", Patterns: []string{"**/group_chats.json"}},
	{Name: "Sora", Patterns: []string{"**/sora.json", "**/sora/**"}},
	{Name: "Shopping", Patterns: []string{"**/shopping.json"}},
	{Name: "Pictures, sounds and files of messages", Patterns: []string{"**/file-*", "**/file_*",
		"**/dalle-generations/**", "**/user-*/**", "**/audio/**"}},
}

// packaging holds nothing besides what is collected: chat.html shows conversations.json.
var packaging = []string{"**/chat.html", "**/export_manifest.json"}

// mostAccounts bounds the loose files of an unpacked export that have an account of their own.
const mostAccounts = 200

// account adds the account of a file of the import folder.
func (e *export) account(file string, left localfile.Leftovers) {
	e.accounts = append(e.accounts, connectorkit.Upsert(localfile.FileAccount(file, file, left)))
}

// leave counts a member of an export that is not collected.
func leave(left *localfile.Leftovers, name string) {
	if !localfile.Match(packaging, name) {
		left.Add(leftOut, name)
	}
}

// zipName is a zip file where one is looked for.
var zipName = regexp.MustCompile(`^([^/]+/)?[^/]+\.[zZ][iI][pP]$`)

// accountLoose adds the accounts of what an unpacked export holds besides its parts.
func (e *export) accountLoose(ctx context.Context, in fs.FS) error {
	var rest localfile.Leftovers
	seen := 0
	err := fs.WalkDir(in, ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if seen++; seen > maxEntries {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || partName.MatchString(name) || name == sharesName || zipName.MatchString(name) {
			return err
		}
		var left localfile.Leftovers
		switch leave(&left, name); {
		case left.Empty():
		case len(e.accounts) < mostAccounts:
			e.account(name, left)
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
func accountsOf(e *export) connectorkit.PagedStream {
	page := func(context.Context, connectorkit.Cursor) (out connectorkit.Page, err error) {
		if e != nil {
			out.Records = e.accounts
		}
		out.Next = connectorkit.Cursor{"accounts": strconv.Itoa(len(out.Records))}
		return out, nil
	}
	return connectorkit.PagedStream{Stream: localfile.CoverageStream, Page: page}
}
