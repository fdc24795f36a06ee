// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Limits of one query.
public enum QueryLimits {
    /// Length of a search text, in bytes.
    public static let textBytes = 1_024
    /// Object ids in a request.
    public static let objectIDs = 100_000
    /// Coordinates of a query geometry.
    public static let coordinates = 50_000
    /// Magnitude of an ordinate of a query geometry.
    public static let ordinate = Coordinate.bound
    /// Rows sorted by another order than that of object ids.
    public static let sortedRows = 1_000_000
    /// Groups of statistics, and distinct rows.
    public static let groups = 100_000
    /// Statistics, group fields, and order fields.
    public static let columns = 64
    /// Size of an answer in bytes; further rows are cut off, and the answer says so.
    public static let answerBytes = 64 << 20
    /// Size of one part of an answer in bytes, which travels as one message.
    public static let partBytes = 6 << 20
    /// Largest plausible number of preceding bytes in a continuation token.
    static let partOffset = 1 << 40
    /// Features that one query reads of a layer on another server.
    public static let remoteFeatures = 100_000
    /// Approximate size of the features kept of them, in bytes.
    public static let remoteBytes = 64 << 20
    /// Object ids read from one server.
    public static let remoteObjectIDs = 1_000_000
    /// Requests sent to one server.
    public static let remoteQuestions = 1_000
    /// Page size of requests to other servers, in features.
    public static let remotePage = 2_000
    /// Size of the answer of a layer on another server, which has one part, in bytes; further rows
    /// are cut off.
    ///
    /// A server may answer differently when asked for a second part.
    public static let remoteAnswerBytes = partBytes
    /// Distance on the ground, in metres: half of the earth's circumference.
    public static let distanceMeters = 20_000_000.0
}
