// Package citation turns the marks with which a model names passages into
// citations that can be followed, and finds the boxes of a quotation on its
// pages. Only passages that the model was given can be cited.
package citation
