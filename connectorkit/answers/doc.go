// Package answers compares what a provider answers with what a connector knows of its answers.
//
// A sheet lists, route by route, the members that this version of a connector knows, whether it
// reads them or not. The tests of a connector write the sheet from the answers of its simulator or
// of a real server; members that the connector decodes count as known wherever they are.
//
//	GET v1/entries
//		total! number
//		entries! list
//		entries/[]! object
//		entries/[]/id! number
//		entries/[]/author text|null
//	names author id total
//
//	# by hand
//	GET v1/rooms/*/state
//		members/* object
//
// "*" is any segment of a path, or any member of an object with data as member names. "**" is any
// path, for sources at addresses that the owner enters; as a member, it leaves out everything in its object. "!" marks
// a member that every object of the sheet's answers has. The part after "# by hand" is kept when
// the rest is written again.
//
// "FILE" in place of a method is what is read of a store of files; see Content. Attributes of XML and
// columns of a table are members.
//
// A comparison keeps member paths, kinds and counts. It keeps no values, and no name that could
// be one.
package answers
