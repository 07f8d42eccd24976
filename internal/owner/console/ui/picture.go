package ui

import "slices"

// pictureTypes are the kinds of files that small pictures are made of.
var pictureTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// IsPicture reports whether a small picture is made of files of a media type.
func IsPicture(mime string) bool { return slices.Contains(pictureTypes, mime) }

// ThumbnailPart is what the address of a file and that of its small picture differ in.
const ThumbnailPart = "/thumbnail"
