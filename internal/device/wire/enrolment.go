package wire

import (
	"path"
	"strings"
)

// Secrets begin so, that a leaked one can be recognised.
const (
	CodePrefix  = "lde_" // of a code that enrols a device
	TokenPrefix = "ldt_" // of a device's token
)

// Error codes that a device handles separately.
const (
	CodeUnauthenticated = "authentication_error" // 401
	CodeForbidden       = "permission_error"     // 403
	CodeSourceUnknown   = "source_unknown"       // 404, or 400 when the body names the source
	// 403: the owner deleted the connection, and what waits here is to go too
	CodeSourceDeleted      = "source_deleted"
	CodeConnectionInactive = "connection_inactive"       // 403
	CodeEnrollmentInvalid  = "enrollment_code_invalid"   // 400
	CodeEnrollmentUsed     = "enrollment_code_used"      // 400
	CodeEnrollmentExpired  = "enrollment_code_expired"   // 410
	CodeScopeTooWide       = "collection_scope_too_wide" // 400
)

// IsRoot reports whether a folder is named from its root on: /x, ~/x, C:\x or \\host\x.
func IsRoot(folder string) bool {
	clean := CleanRoot(folder)
	rooted := strings.HasPrefix(clean, "/") || clean == "~" || strings.HasPrefix(clean, "~/") || len(clean) > 2 &&
		clean[1] == ':' && clean[2] == '/'
	return rooted && !strings.ContainsRune(clean, 0)
}

// CleanRoot returns the canonical spelling of a folder. It removes dot segments. Windows paths become
// lower case, with slashes.
func CleanRoot(folder string) string {
	if len(folder) > 1 && folder[1] == ':' || strings.HasPrefix(folder, `\\`) {
		folder = strings.ToLower(strings.ReplaceAll(folder, `\`, "/"))
	}
	return path.Clean(folder)
}
