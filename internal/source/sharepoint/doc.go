// Package sharepoint follows SharePoint and OneDrive by Microsoft Graph: the libraries, pages
// and lists of a site, one library or a part of it, or the files of a person. It asks for the
// changes of each drive since a delta link, and lists everything again when a folder has
// changed, because a folder stands for all that is below it.
//
// It speaks the REST protocol of Graph, version 1.0, and reads the members of SharePoint's own
// groups by SharePoint's REST protocol, because Graph does not tell them. It needs no client
// library.
package sharepoint
