Option Explicit

' Serve writes the file ready, and then converts the documents that the job file in
' the folder names, one after another. It ends LibreOffice when no job came for so many seconds, or when the
' folder is gone.
Sub Serve(folder As String, idle As Long)
	Dim due As Double, soon As Double
	WriteFile(folder & "/ready", "ready")
	due = Now + idle / 86400
	soon = Now + 2 / 86400
	Do While Now < due And FileExists(folder)
		If FileExists(folder & "/job") Then
			Convert(folder)
			due = Now + idle / 86400
			soon = Now + 2 / 86400
		ElseIf Now < soon Then
			Wait 5
		Else
			Wait 50
		End If
	Loop
	StarDesktop.terminate()
End Sub

' Convert reads the job: the address of the document, its password, and then a filter
' and an address for each conversion. It writes the outcome to the file done.
Sub Convert(folder As String)
	Dim n As Integer, i As Integer, count As Integer, source As String, password As String, outcome As String
	Dim filters(9) As String, targets(9) As String, sheets As Boolean
	Dim doc As Object
	Dim load(4) As New com.sun.star.beans.PropertyValue
	Dim pdf(0) As New com.sun.star.beans.PropertyValue
	outcome = "ok"
	On Error GoTo Failed
	n = FreeFile
	Open folder & "/job" For Input As #n
	Line Input #n, source
	Line Input #n, password
	Do While Not EOF(n)
		Line Input #n, filters(count)
		Line Input #n, targets(count)
		If filters(count) = "calc_pdf_Export" Then sheets = True
		count = count + 1
	Loop
	load(0).Name = "Hidden" : load(0).Value = True
	load(1).Name = "ReadOnly" : load(1).Value = Not sheets ' whose columns are widened; it is never stored
	load(2).Name = "Silent" : load(2).Value = True
	' No macro of the document runs, and no link is followed.
	load(3).Name = "MacroExecutionMode" : load(3).Value = 0
	load(4).Name = "UpdateDocMode" : load(4).Value = 0
	If password <> "" Then
		ReDim Preserve load(5)
		load(5) = Named("Password", Decoded(password))
	End If
	doc = StarDesktop.loadComponentFromURL(source, "_blank", 0, load())
	If IsNull(doc) Then
		outcome = "unreadable"
	Else
		If doc.supportsService("com.sun.star.text.GenericTextDocument") Then HideChanges(doc)
		' Each slide has a page, so that its number is the number of the page.
		pdf(0).Name = "ExportHiddenSlides" : pdf(0).Value = True
		If sheets Then ShowSheets(doc)
		For i = 0 To count - 1
			If InStr(filters(i), "pdf") > 0 Then
				doc.storeToURL(targets(i), Array(Named("FilterName", filters(i)), Named("FilterData", pdf())))
			Else
				doc.storeToURL(targets(i), Array(Named("FilterName", filters(i))))
			End If
		Next
	End If
	GoTo Finished
Failed:
	outcome = "error " & Err & " " & Error
	Resume Finished
Finished:
	On Error Resume Next
	Close #n
	If Not IsNull(doc) Then doc.close(True)
	Kill folder & "/job"
	WriteFile(folder & "/done", outcome)
End Sub

' WriteFile writes a file that is complete when it appears.
Sub WriteFile(path As String, text As String)
	Dim n As Integer
	n = FreeFile
	Open path & ".new" For Output As #n
	Print #n, text
	Close #n
	Name path & ".new" As path
End Sub

' Named returns a value with a name.
Function Named(name As String, value) As Object
	Dim p As New com.sun.star.beans.PropertyValue
	p.Name = name
	p.Value = value
	Named = p
End Function

' HideChanges shows the text as if all its changes were accepted.
Sub HideChanges(doc As Object)
	On Error Resume Next
	doc.RedlineDisplayType = com.sun.star.document.RedlineDisplayType.INSERTED
End Sub

' ShowSheets prints all sheets of a workbook, hidden ones too, with all their cells, and all
' columns of a row on one page.
Sub ShowSheets(doc As Object)
	Dim i As Long, sheets As Object, styles As Object
	On Error Resume Next
	doc.lockControllers()
	doc.addActionLock()
	sheets = doc.Sheets
	For i = 0 To sheets.Count - 1
		sheets.getByIndex(i).IsVisible = True
		sheets.getByIndex(i).setPrintAreas(Array())
		Widen(sheets.getByIndex(i))
	Next
	styles = doc.StyleFamilies.getByName("PageStyles")
	For i = 0 To styles.Count - 1
		styles.getByIndex(i).ScaleToPagesX = 1
		styles.getByIndex(i).ScaleToPagesY = 0
	Next
	doc.removeActionLock()
	doc.unlockControllers()
End Sub

' Widen makes the columns of a sheet wide enough for their text, up to 8 cm: what does not fit
' is not printed. In a large sheet that would take too long.
Sub Widen(sheet As Object)
	Dim i As Long, count As Long, before(100) As Long
	Dim area As Object, column As Object, cursor As Object
	On Error Resume Next
	cursor = sheet.createCursor()
	cursor.gotoEndOfUsedArea(False)
	count = cursor.RangeAddress.EndColumn + 1
	If cursor.RangeAddress.EndRow > 2000 Or count > 100 Then Exit Sub
	area = sheet.getCellRangeByPosition(0, 0, count - 1, cursor.RangeAddress.EndRow)
	For i = 0 To count - 1
		before(i) = area.Columns.getByIndex(i).Width
	Next
	area.Columns.OptimalWidth = True
	For i = 0 To count - 1
		column = area.Columns.getByIndex(i)
		If column.Width < before(i) Then
			column.Width = before(i)
		ElseIf column.Width > 8000 Then
			column.Width = 8000
			If before(i) > 8000 Then column.Width = before(i)
		End If
	Next
End Sub

' Decoded returns the text that was written as four hexadecimal digits for each of its
' characters.
Function Decoded(hex As String) As String
	Dim i As Long, text As String
	For i = 1 To Len(hex) Step 4
		text = text & Chr(CLng("&H" & Mid(hex, i, 4)))
	Next
	Decoded = text
End Function
