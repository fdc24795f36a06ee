// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The bounds within which one query is answered.
public enum QueryLimits {
    /// The most bytes of a text that is looked for.
    public static let textBytes = 1_024
    /// The most object ids a query may name.
    public static let objectIDs = 100_000
    /// The most coordinates of a query geometry.
    public static let coordinates = 50_000
    /// The greatest magnitude of an ordinate of a query geometry.
    public static let ordinate = Coordinate.bound
    /// The most rows that are put in another order than that of object ids.
    public static let sortedRows = 1_000_000
    /// The most groups of statistics, and the most distinct rows.
    public static let groups = 100_000
    /// The most statistics, fields of a group, and fields of an order.
    public static let columns = 64
    /// The most bytes of an answer; rows beyond them are cut off, and the answer says so.
    public static let answerBytes = 64 << 20
    /// The most bytes of one part of an answer, as it goes through a site's messages.
    public static let partBytes = 6 << 20
    /// The most bytes that a part can say earlier ones have.
    static let partOffset = 1 << 40
    /// The most features that one query reads of a layer on another server.
    public static let remoteFeatures = 100_000
    /// The most bytes, about, that it keeps of them.
    public static let remoteBytes = 64 << 20
    /// The most object ids that it takes from one.
    public static let remoteObjectIDs = 1_000_000
    /// The most questions that it puts to one.
    public static let remoteQuestions = 1_000
    /// The most features that it asks for at once.
    public static let remotePage = 2_000
    /// The most bytes of the answer of a layer on another server, which has one part; rows beyond
    /// them are cut off.
    ///
    /// Asked again, the server may say something else.
    public static let remoteAnswerBytes = partBytes
    /// The greatest distance on the ground, in metres: half of the way around the earth.
    public static let distanceMeters = 20_000_000.0
}
